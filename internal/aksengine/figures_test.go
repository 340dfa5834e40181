package aksengine_test

import (
	"encoding/json"
	"fmt"
	"maps"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"sigs.k8s.io/cluster-api-provider-azure/internal/aksengine"
)

// figures are the numbers of values in the examples of aks-engine's features, by outcome. docs/book/convert.md has them.
var figures = map[aksengine.Conversion]int{aksengine.Carried: 190, aksengine.Equivalent: 65, aksengine.NotConverted: 22}

// properties are those that the page about aks-engine's features names. Each is in an example.
// https://github.com/Azure/aks-engine/blob/master/docs/topics/features.md
var properties = []string{
	"OSDiskSizeGB", "adminUsername", "agentPoolProfiles", "agentVnetSubnetId", "apiVersion", "availabilityProfile", "clientId", "containerRuntime", "count",
	"diskSizesGB", "dnsPrefix", "enableEncryptionWithExternalKms", "enableRbac", "enabled", "firstConsecutiveStaticIP", "gallery", "imageReference",
	"ipAddressCount", "jumpboxProfile", "keyData", "keyVaultSku", "kubeletConfig", "kubernetesConfig", "linuxProfile", "masterProfile", "name",
	"networkPlugin", "networkPolicy", "objectId", "orchestratorProfile", "orchestratorRelease", "orchestratorType", "osDiskSizeGB", "privateCluster",
	"publicKey", "publicKeys", "resourceGroup", "secret", "servicePrincipalProfile", "ssh", "storageProfile", "subscriptionID", "useManagedIdentity",
	"username", "version", "vmSize", "vnetCidr", "vnetSubnetId",
}

// TestFigures counts the outcomes of the examples of aks-engine's features. A value that is no longer carried over changes the figures.
func TestFigures(t *testing.T) {
	got, named := map[aksengine.Conversion]int{}, map[string]bool{}
	files, err := filepath.Glob("testdata/seed/*.json")
	if err != nil || len(files) != 17 {
		t.Fatalf("%d examples, want 17: %v", len(files), err)
	}
	for _, file := range files {
		for _, finding := range convertFile(t, file).Findings {
			got[finding.Conversion]++
			for word := range strings.FieldsFuncSeq(finding.Path, func(r rune) bool { return strings.ContainsRune(".[]", r) }) {
				named[word] = true
			}
		}
	}
	if diff := cmp.Diff(figures, got); diff != "" {
		t.Errorf("values by outcome (-documented +converted):\n%s", diff)
	}
	for _, property := range properties {
		if !named[property] {
			t.Errorf("no example has the property %s", property)
		}
	}
	page, err := os.ReadFile("../../docs/book/convert.md")
	if err != nil {
		t.Fatal(err)
	}
	all := 0
	for _, n := range figures {
		all += n
	}
	for _, want := range []string{fmt.Sprintf("%d values", all), fmt.Sprintf("%d are carried over", figures[aksengine.Carried]),
		fmt.Sprintf("%d have an equivalent", figures[aksengine.Equivalent]), fmt.Sprintf("%d are listed", figures[aksengine.NotConverted])} {
		if !strings.Contains(string(page), want) {
			t.Errorf("docs/book/convert.md does not have %q", want)
		}
	}
}

// TestCarriedValuesCount changes each value that is reported as carried over, one at a time. The manifests change with it, or the other
// value is not reported as carried over.
func TestCarriedValuesCount(t *testing.T) {
	files, err := filepath.Glob("testdata/*/*.json")
	if err != nil {
		t.Fatal(err)
	}
	changed := 0
	for _, file := range files {
		model, err := os.ReadFile(file)
		if err != nil {
			t.Fatal(err)
		}
		before := convertFile(t, file)
		manifests := mustYAML(t, before)
		for _, finding := range before.Findings {
			if finding.Conversion != aksengine.Carried {
				continue
			}
			changed++
			after, err := aksengine.Convert(changeValue(t, model, finding.Path), options)
			if err != nil {
				continue // The other value is refused, so it counts.
			}
			still := slices.ContainsFunc(after.Findings, func(f aksengine.Finding) bool { return f.Path == finding.Path && f.Conversion == aksengine.Carried })
			if still && mustYAML(t, after) == manifests {
				t.Errorf("%s: %s is reported as carried over to %s, and the manifests do not depend on it", file, finding.Path, finding.Target)
			}
		}
	}
	if changed < figures[aksengine.Carried] {
		t.Errorf("%d values were changed, want at least %d", changed, figures[aksengine.Carried])
	}
}

func convertFile(t *testing.T, file string) aksengine.Result {
	t.Helper()
	model, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	result, err := aksengine.Convert(model, options)
	if err != nil {
		t.Fatal(err)
	}
	return result
}

func mustYAML(t *testing.T, result aksengine.Result) string {
	t.Helper()
	manifests, err := result.YAML()
	if err != nil {
		t.Fatal(err)
	}
	return string(manifests)
}

var step = regexp.MustCompile(`[^.\[\]]+`)

// changeValue returns a model with another value at a path.
func changeValue(t *testing.T, model []byte, path string) []byte {
	t.Helper()
	var content any
	if err := json.Unmarshal(model, &content); err != nil {
		t.Fatal(err)
	}
	content = change(t, content, step.FindAllString(path, -1), path)
	raw, err := json.Marshal(content)
	if err != nil {
		t.Fatal(err)
	}
	return raw
}

func change(t *testing.T, content any, steps []string, path string) any {
	t.Helper()
	switch content := content.(type) {
	case map[string]any:
		// Keys may have dots.
		for n := 1; n <= len(steps); n++ {
			if inner, ok := content[strings.Join(steps[:n], ".")]; ok {
				content[strings.Join(steps[:n], ".")] = change(t, inner, steps[n:], path)
				return content
			}
		}
		t.Fatalf("%s: no key of %v is %v", path, slices.Collect(maps.Keys(content)), steps)
	case []any:
		i, err := strconv.Atoi(steps[0])
		if err != nil || i >= len(content) {
			t.Fatalf("%s: no element %v", path, steps)
		}
		content[i] = change(t, content[i], steps[1:], path)
		return content
	case string:
		if other := map[string]string{"AvailabilitySet": "VirtualMachineScaleSets", "VirtualMachineScaleSets": "AvailabilitySet"}[content]; other != "" {
			return other
		}
		return content + "1"
	case float64:
		return content + 2
	case bool:
		return !content
	}
	return "other"
}
