trim(regexp_replace(lower(nfc_normalize({{.}})), '[\s\pZ\pC\x{FFFD}]+', ' ', 'g')){{/* without the end of the line */ -}}
