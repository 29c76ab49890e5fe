package api

import _ "embed"

//go:embed openapi.yaml
var openAPI []byte

// OpenAPI returns the description of the API, an OpenAPI 3.0 document in YAML. The caller owns the slice.
func OpenAPI() []byte { return append([]byte(nil), openAPI...) }
