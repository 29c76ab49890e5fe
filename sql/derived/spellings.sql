-- Adds the spellings that new rows bring.
INSERT INTO _dealflow.spelling
SELECT f.spelt, _dealflow.normal_name(f.spelt)
FROM (
  SELECT name AS spelt FROM {{.Table.bond_priced_banks}}
  UNION SELECT status FROM {{.Table.bond_priced_banks}}
  UNION SELECT name FROM {{.Table.loan_priced_tranche_banks}}
  UNION SELECT name FROM {{.Table.loan_priced_tranches}}
  UNION SELECT name FROM {{.Table.loan_expected_tranches}}
  UNION SELECT borrower_name FROM {{.Table.bond_priced_deals}}
  UNION SELECT borrower_name FROM {{.Table.loan_priced_deals}}
  UNION SELECT borrower_name FROM {{.Table.bond_expected_deals}}
  UNION SELECT borrower_name FROM {{.Table.loan_expected_deals}}
) f
WHERE f.spelt IS NOT NULL AND NOT EXISTS (FROM _dealflow.spelling s WHERE s.spelt = f.spelt)
ORDER BY f.spelt;
