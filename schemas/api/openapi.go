package api

import _ "embed"

var (
	//go:embed openapi.yaml
	openAPI []byte

	//go:embed examples.json
	examples []byte
)

// OpenAPI returns the description of the API, an OpenAPI 3.0 document in YAML. The caller owns the slice.
func OpenAPI() []byte { return append([]byte(nil), openAPI...) }

// Examples returns an example of each schema and parameter of the description, as a JSON object of two objects by name:
// schemas and parameters. They are answers of a simulated market. The caller owns the slice.
func Examples() []byte { return append([]byte(nil), examples...) }
