package aksengine_test

import (
	"encoding/json"
	"fmt"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"sigs.k8s.io/cluster-api-provider-azure/internal/aksengine"
)

// FuzzConvert checks that no model makes the conversion panic, that each value of a model has exactly one finding with an outcome, and that
// manifests of a model can be written.
func FuzzConvert(f *testing.F) {
	files, err := filepath.Glob("testdata/*/*.json")
	if err != nil {
		f.Fatal(err)
	}
	for _, file := range files {
		model, err := os.ReadFile(file)
		if err != nil {
			f.Fatal(err)
		}
		f.Add(model)
	}
	f.Fuzz(func(t *testing.T, model []byte) {
		result, err := aksengine.Convert(model, options)
		if err != nil {
			return
		}
		if _, err := result.YAML(); err != nil {
			t.Fatal(err)
		}
		checkAccounted(t, model, result)
	})
}

// checkAccounted checks that each value of a model has a finding, and that each finding has the fields that a reader needs.
func checkAccounted(t *testing.T, model []byte, result aksengine.Result) {
	t.Helper()
	if want := countLeaves(t, model); len(result.Findings) != want {
		t.Errorf("%d findings about %d values", len(result.Findings), want)
	}
	for _, finding := range result.Findings {
		switch finding.Conversion {
		case aksengine.Carried:
			if finding.Target == "" {
				t.Errorf("%s is carried over to no field", finding.Path)
			}
		case aksengine.Equivalent:
			if finding.Reason == "" {
				t.Errorf("%s has an equivalent without a name", finding.Path)
			}
		case aksengine.NotConverted:
			if finding.Reason == "" || finding.Action == "" {
				t.Errorf("%s is not converted, without a reason or an action", finding.Path)
			}
		case aksengine.Empty:
		default:
			t.Errorf("%s has no outcome", finding.Path)
		}
	}
}

// TestEveryPlaceIsAccounted replaces each value by values of all types, one of which is an object with an unknown property. It checks that
// the new value is accounted for, that a text which is reported as carried over is in the manifests, that an unknown property is reported
// by its path, and that the report has no values but names of objects.
func TestEveryPlaceIsAccounted(t *testing.T) {
	const secret = "kept-secret-7f3a"
	for _, file := range []string{"testdata/other/generated.json", "testdata/seed/private-cluster-jumpbox.json",
		"testdata/seed/custom-vnet.json"} {
		raw, err := os.ReadFile(file)
		if err != nil {
			t.Fatal(err)
		}
		tried := 0
		for _, replacement := range []any{nil, "", secret, true, 7, -1.5, []any{}, map[string]any{}, []any{secret},
			map[string]any{"of-the-future": secret}} {
			for i := 0; ; i++ {
				var content any
				if err := json.Unmarshal(raw, &content); err != nil {
					t.Fatal(err)
				}
				place, path := 0, ""
				content = replaceLeaf(content, i, &place, replacement, "", &path)
				if place <= i {
					break
				}
				model, err := json.Marshal(content)
				if err != nil {
					t.Fatal(err)
				}
				result, err := aksengine.Convert(model, options)
				if err != nil {
					continue // The model lacks a property without which there is no cluster.
				}
				tried++
				checkAccounted(t, model, result)
				findings, err := json.Marshal(result.Findings)
				if err != nil {
					t.Fatal(err)
				}
				manifests, err := result.YAML()
				if err != nil {
					t.Fatal(err)
				}
				if strings.Contains(string(findings), secret) && !strings.Contains(string(manifests), secret) {
					t.Errorf("%s: the report has a value that the manifests do not have", file)
				}
				isCarried := slices.ContainsFunc(result.Findings, func(f aksengine.Finding) bool {
					return f.Path == path && f.Conversion == aksengine.Carried
				})
				if replacement == secret && isCarried && !strings.Contains(string(manifests), secret) {
					t.Errorf("%s: %s is reported as carried over, but is not in the manifests", file, path)
				}
				if object, is := replacement.(map[string]any); is && len(object) > 0 && !strings.Contains(string(findings),
					"of-the-future") {
					t.Errorf("%s: value %d: the unknown property is not in the report", file, i)
				}
			}
		}
		t.Logf("%s: %d changed models", file, tried)
	}
}

// replaceLeaf replaces the leaf with a number, and stores its path.
func replaceLeaf(content any, number int, at *int, replacement any, path string, replaced *string) any {
	switch typed := content.(type) {
	case map[string]any:
		for _, key := range slices.Sorted(maps.Keys(typed)) {
			typed[key] = replaceLeaf(typed[key], number, at, replacement, strings.TrimPrefix(path+"."+key, "."), replaced)
		}
		return typed
	case []any:
		for i := range typed {
			typed[i] = replaceLeaf(typed[i], number, at, replacement, fmt.Sprintf("%s[%d]", path, i), replaced)
		}
		return typed
	}
	*at++
	if *at-1 == number {
		*replaced = path
		return replacement
	}
	return content
}
