SELECT headway.run.id
FROM headway.run JOIN headway.run_done ON headway.run_done.id = headway.run.id
