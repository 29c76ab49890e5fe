-- The files of the commit.
CREATE OR REPLACE VIEW _dealflow.history_deal_versions AS FROM {{.Versions}};
{{- range .Tables}}
CREATE OR REPLACE VIEW _dealflow.history_{{.Name}} AS FROM {{.History}};
CREATE OR REPLACE VIEW _dealflow.snapshots_{{.Name}} AS FROM {{.Snapshots}};
{{- end}}
