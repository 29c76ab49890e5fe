package serve

import (
	"maps"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/getkin/kin-openapi/openapi3"

	"dealflow/schemas/api"
)

// still is a Source that has only a time.
type still struct{ Source }

func (still) Now() time.Time { return time.Time{} }

// TestRoutesAndDescriptionAgree compares the documented routes with openapi.yaml: paths, methods, access and
// parameters.
func TestRoutesAndDescriptionAgree(t *testing.T) {
	server, err := New(Config{Source: still{}})
	if err != nil {
		t.Fatal(err)
	}
	doc, err := openapi3.NewLoader().LoadFromData(api.OpenAPI())
	if err != nil {
		t.Fatal(err)
	}
	routes := map[string]access{}
	for _, route := range server.routes() {
		if route.part != documented {
			continue
		}
		if !strings.Contains(route.path, "{market}") {
			routes[route.method+" "+route.path] = route.access
			continue
		}
		for _, service := range api.Services() {
			if strings.HasPrefix(route.path, "/v3/"+string(service)) {
				for _, market := range api.Markets(service) {
					routes[route.method+" "+strings.Replace(route.path, "{market}", market.Lower(), 1)] = route.access
				}
			}
		}
	}
	described := map[string]access{}
	for path, item := range doc.Paths.Map() {
		for method, operation := range item.Operations() {
			described[method+" "+path] = bearer
			if operation.Security != nil {
				described[method+" "+path] = open // needs credentials, not a token
			}
		}
	}
	if !maps.Equal(routes, described) {
		t.Errorf("routes %v\ndescribed %v", slices.Sorted(maps.Keys(routes)), slices.Sorted(maps.Keys(described)))
	}
	for _, feed := range api.Feeds() {
		var names []string
		for _, parameter := range doc.Paths.Value(feed.Path()).Get.Parameters {
			names = append(names, parameter.Value.Name)
		}
		want := append(filters(feed), paramSeeker)
		if slices.Sort(names); !slices.Equal(names, slices.Sorted(slices.Values(want))) {
			t.Errorf("%s takes %v, described are %v", feed, want, names)
		}
	}
}
