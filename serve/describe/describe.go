package describe

import (
	"bytes"
	_ "embed"
	"encoding/json"
	"fmt"
	"html/template"
	"slices"
	"strings"
	"sync"

	"gopkg.in/yaml.v3"

	"dealflow/schemas/api"
)

// description reads openapi.yaml and its examples once: as values for /openapi.json, and as nodes, which keep their order,
// for /docs.
var description = sync.OnceValues(func() (*apiDescription, error) {
	var d apiDescription
	if err := yaml.Unmarshal(api.OpenAPI(), &d.values); err != nil {
		return nil, fmt.Errorf("openapi.yaml: %w", err)
	}
	var document yaml.Node
	if err := yaml.Unmarshal(api.OpenAPI(), &document); err != nil {
		return nil, fmt.Errorf("openapi.yaml: %w", err)
	}
	var examples docExamples
	if err := json.Unmarshal(api.Examples(), &examples); err != nil {
		return nil, fmt.Errorf("examples.json: %w", err)
	}
	addExamples(d.values, "schemas", examples.Schemas)
	addExamples(d.values, "parameters", examples.Parameters)
	d.page = pageOf(docNode{document.Content[0]}, examples)
	return &d, nil
})

// docExamples are the examples of schemas and parameters, by name.
type docExamples struct{ Schemas, Parameters map[string]json.RawMessage }

// addExamples adds examples to the components of one kind.
func addExamples(values map[string]any, kind string, examples map[string]json.RawMessage) {
	components, _ := values["components"].(map[string]any)
	group, _ := components[kind].(map[string]any)
	for name, example := range examples {
		if component, ok := group[name].(map[string]any); ok {
			component["example"] = example
		}
	}
}

// pretty returns an example as people read it, "" for none.
func pretty(example json.RawMessage) string {
	var text bytes.Buffer
	if json.Indent(&text, example, "", "  ") != nil {
		return ""
	}
	return strings.Trim(text.String(), `"`)
}

type apiDescription struct {
	values map[string]any
	page   docPage
}

// OpenAPI returns the description as JSON, with its examples. base is the base URL of the server.
func OpenAPI(base string) ([]byte, error) {
	d, err := description()
	if err != nil {
		return nil, err
	}
	text, err := json.Marshal(d.values)
	if err != nil {
		return nil, err
	}
	// The file and its examples contain the example server as a complete string or at the beginning of one.
	return bytes.ReplaceAll(text, []byte(`"`+exampleServer), []byte(`"`+base)), nil
}

// exampleServer is the server that openapi.yaml and its examples name.
const exampleServer = "http://127.0.0.1:8900"

// Page returns the description as a page for people, which loads nothing else. base is the base URL of the server.
func Page(base string) ([]byte, error) {
	d, err := description()
	if err != nil {
		return nil, err
	}
	var page bytes.Buffer
	if err := docTemplate().Execute(&page, struct {
		docPage
		Base string
	}{d.page, base}); err != nil {
		return nil, err
	}
	return bytes.ReplaceAll(page.Bytes(), []byte(exampleServer), []byte(base)), nil // in examples
}

//go:embed docs.html
var docHTML string

var docTemplate = sync.OnceValue(func() *template.Template { return template.Must(template.New("docs").Parse(docHTML)) })

// docPage is the content of the page, for docs.html.
type docPage struct {
	Title, Version string
	About          []string // paragraphs
	Groups         []docGroup
	Statuses       []api.Status
	Schemas        []docSchema
}

type docGroup struct {
	Name, About string
	Operations  []docOperation
}

type docOperation struct {
	Method, Path, Summary, Schema string
	Params                        []docField
}

type docSchema struct {
	Name, About, Example string
	Fields               []docField
}

// docField is a parameter or a member of a schema. Schema names the schema of its values, if it has one.
type docField struct {
	Name, In, Type, Schema, About, Example string
	Required                               bool
}

// docNode is a node of the description; the members of a mapping keep the order of the file.
type docNode struct{ *yaml.Node }

// at returns the member at a path. If there is none, it returns an empty node.
func (n docNode) at(names ...string) docNode {
	for _, name := range names {
		next := &yaml.Node{}
		if n.Kind == yaml.MappingNode {
			for i := 0; i+1 < len(n.Content); i += 2 {
				if n.Content[i].Value == name {
					next = n.Content[i+1]
				}
			}
		}
		n = docNode{next}
	}
	return n
}

// members returns the names of a mapping's members.
func (n docNode) members() []string {
	var names []string
	for i := 0; n.Kind == yaml.MappingNode && i+1 < len(n.Content); i += 2 {
		names = append(names, n.Content[i].Value)
	}
	return names
}

// values returns the scalars of a list.
func (n docNode) values() []string {
	var values []string
	for _, item := range n.Content {
		values = append(values, item.Value)
	}
	return values
}

// ref returns the last part of the mapping's $ref, or "" if it has none.
func (n docNode) ref() string {
	text := n.at("$ref").Value
	return text[strings.LastIndexByte(text, '/')+1:]
}

func pageOf(root docNode, examples docExamples) docPage {
	page := docPage{
		Title: root.at("info", "title").Value, Version: root.at("info", "version").Value, About: strings.Split(strings.TrimSpace(root.at("info", "description").Value), "\n\n"),
		Statuses: api.Statuses(),
	}
	paths := root.at("paths")
	for _, tag := range root.at("tags").Content {
		group := docGroup{Name: docNode{tag}.at("name").Value, About: docNode{tag}.at("description").Value}
		for _, path := range paths.members() {
			for _, method := range paths.at(path).members() {
				operation := paths.at(path, method)
				if !slices.Contains(operation.at("tags").values(), group.Name) {
					continue
				}
				group.Operations = append(group.Operations, operationOf(root, operation, examples, strings.ToUpper(method), path))
			}
		}
		page.Groups = append(page.Groups, group)
	}
	schemas := root.at("components", "schemas")
	for _, name := range schemas.members() {
		schema := schemaOf(name, schemas.at(name))
		schema.Example = pretty(examples.Schemas[name])
		page.Schemas = append(page.Schemas, schema)
	}
	return page
}

func operationOf(root, operation docNode, examples docExamples, method, path string) docOperation {
	o := docOperation{Method: method, Path: path, Summary: operation.at("summary").Value}
	content := operation.at("responses", "200", "content")
	for _, kind := range content.members() {
		o.Schema = content.at(kind, "schema").ref()
	}
	for _, item := range operation.at("parameters").Content {
		param, name := docNode{item}, docNode{item}.ref()
		if name != "" {
			param = root.at("components", "parameters", name)
		}
		field := fieldOf(param.at("name").Value, param.at("schema"))
		field.In, field.About, field.Required = param.at("in").Value, param.at("description").Value, param.at("required").Value == "true"
		field.Example = pretty(examples.Parameters[name])
		o.Params = append(o.Params, field)
	}
	return o
}

func schemaOf(name string, node docNode) docSchema {
	schema := docSchema{Name: name, About: node.at("description").Value}
	var add func(prefix string, object docNode)
	add = func(prefix string, object docNode) {
		properties, required := object.at("properties"), object.at("required").values()
		for _, member := range properties.members() {
			value := properties.at(member)
			field := fieldOf(prefix+member, value)
			field.Required = slices.Contains(required, member)
			schema.Fields = append(schema.Fields, field)
			add(prefix+member+".", value)
		}
	}
	add("", node)
	return schema
}

// fieldOf describes in words which values a schema allows.
func fieldOf(name string, schema docNode) docField {
	field := docField{Name: name, Schema: schema.ref(), About: schema.at("description").Value}
	if field.Schema != "" {
		return field
	}
	field.Type = schema.at("type").Value
	switch {
	case field.Type == "array":
		item := fieldOf("", schema.at("items"))
		field.Type, field.Schema = strings.TrimSpace("list of "+item.Type), item.Schema
	case len(schema.at("additionalProperties").members()) > 0:
		item := fieldOf("", schema.at("additionalProperties"))
		field.Type, field.Schema = strings.TrimSpace("map of text to "+item.Type), item.Schema
	case schema.at("format").Value != "":
		field.Type = schema.at("format").Value
	}
	if allowed := schema.at("enum").values(); len(allowed) > 0 {
		field.Type = strings.Join(allowed, " | ")
	}
	return field
}
