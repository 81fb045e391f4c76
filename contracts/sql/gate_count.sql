-- $1 minute
-- $2 definition
-- $3 runs
INSERT INTO headway.rate_bucket (definition, minute, runs) SELECT c.definition, $1::TIMESTAMP WITH TIME ZONE AS anon_1, c.runs
FROM unnest($2::UUID[], $3::INTEGER[]) AS c(definition, runs) ON CONFLICT (definition, minute) DO UPDATE SET runs = (headway.rate_bucket.runs + excluded.runs)
