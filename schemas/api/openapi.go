package api

import _ "embed"

//go:embed openapi.yaml
var openAPI []byte

// OpenAPI is the description of the API as an OpenAPI 3.0 document in YAML. The caller owns it.
func OpenAPI() []byte { return append([]byte(nil), openAPI...) }
