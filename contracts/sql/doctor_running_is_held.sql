SELECT headway.run.id
FROM headway.run LEFT OUTER JOIN headway.session ON headway.session.id = headway.run.session
WHERE headway.run.state = 3 AND (headway.session.id IS NULL OR headway.run.deadline_at IS NULL OR headway.session.state = 3 AND headway.session.lease_until < headway.headway_now() - interval '60 seconds' OR headway.session.lease_until < headway.headway_now() - interval '60 seconds')
