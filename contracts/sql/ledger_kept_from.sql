SELECT headway.horizon.kept_from
FROM headway.horizon
WHERE headway.horizon.name = 'ledger'
