-- $1 at
INSERT INTO headway.horizon (name, kept_from) SELECT 'ledger', $1::TIMESTAMP WITH TIME ZONE AS anon_1 ON CONFLICT (name) DO UPDATE SET kept_from = greatest(headway.horizon.kept_from, excluded.kept_from)
