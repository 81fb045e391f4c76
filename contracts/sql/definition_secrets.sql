-- $1 owner
-- $2 wanted
SELECT headway.definition.tenant, headway.definition.name, headway.definition.version, headway.definition.parameter_spec
FROM unnest($1::TEXT[], $2::TEXT[]) AS named(owner, wanted) JOIN headway.definition ON headway.definition.tenant = named.owner AND headway.definition.name = named.wanted
WHERE headway.definition.secret
