SELECT DISTINCT headway.run.session
FROM headway.run LEFT OUTER JOIN headway.session ON headway.session.id = headway.run.session
WHERE headway.run.state = 3 AND (headway.session.id IS NULL OR headway.session.state = 3)
