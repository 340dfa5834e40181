package catalog

import (
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

// TestEveryFlavor makes sure that the quick start runs with each template of the release.
func TestEveryFlavor(t *testing.T) {
	files, err := filepath.Glob("../../../templates/cluster-template*.yaml")
	if err != nil || len(files) == 0 {
		t.Fatalf("no templates: %v", err)
	}
	quick := map[string]bool{}
	for _, c := range Cases {
		if c.Spec == "quick-start" {
			quick[c.Flavor] = true
		}
	}
	for _, file := range files {
		name := strings.TrimSuffix(strings.TrimPrefix(filepath.Base(file), "cluster-template"), ".yaml")
		name = strings.TrimPrefix(name, "-")
		if name == "" {
			name = "default"
		}
		// A class alone is no cluster. The flavors with a topology use it.
		if strings.HasSuffix(name, "clusterclass") {
			continue
		}
		if !quick[name] {
			t.Errorf("templates/%s: the quick start has no case with flavor %s", filepath.Base(file), name)
		}
	}
}

// TestNames makes sure that labels tell cases apart, and that Ginkgo can read them.
func TestNames(t *testing.T) {
	seen := map[string]bool{}
	for _, c := range Cases {
		if seen[c.Name()] {
			t.Errorf("%s exists twice", c.Name())
		}
		seen[c.Name()] = true
		for _, label := range c.Labels() {
			if strings.ContainsAny(label, "&|!,()/:") {
				t.Errorf("%s: Ginkgo refuses the label %q", c.Name(), label)
			}
		}
		for cloud, reason := range c.Excluded {
			if cloud != Lab && cloud != Azure || reason == "" {
				t.Errorf("%s: excluded from %q because of %q", c.Name(), cloud, reason)
			}
		}
	}
}

func TestSelect(t *testing.T) {
	for name, tc := range map[string]struct {
		reason         string
		specs, flavors []string
		want           []string
		fails          string
	}{
		"one":            {reason: "both lists bound the cases", specs: []string{"quick-start"}, flavors: []string{"aks"}, want: []string{"quick-start aks"}},
		"unknown spec":   {reason: "a misspelled name must not run nothing", specs: []string{"quickstart"}, fails: `there is no spec "quickstart"`},
		"unknown flavor": {reason: "a misspelled name must not run nothing", flavors: []string{"asks"}, fails: `there is no flavor "asks"`},
	} {
		t.Run(name, func(t *testing.T) {
			cases, err := Select(Lab, tc.specs, tc.flavors, false)
			if (err != nil) != (tc.fails != "") || err != nil && !strings.HasPrefix(err.Error(), tc.fails) {
				t.Fatalf("%s: error %v, want %q", tc.reason, err, tc.fails)
			}
			var got []string
			for _, c := range cases {
				got = append(got, c.Name())
			}
			if diff := cmp.Diff(tc.want, got); diff != "" {
				t.Errorf("%s (-want +got):\n%s", tc.reason, diff)
			}
		})
	}
}
