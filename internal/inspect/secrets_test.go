package inspect

import (
	"encoding/json"
	"io/fs"
	"os"
	"os/exec"
	"path"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"

	"sigs.k8s.io/yaml"

	"sigs.k8s.io/cluster-api-provider-azure/config/crd"
)

const marker = "marker-4711"

// definitionSchema is the part of an OpenAPI schema that the test reads.
type definitionSchema struct {
	Type                 string                      `json:"type"`
	Description          string                      `json:"description"`
	Properties           map[string]definitionSchema `json:"properties"`
	Items                *definitionSchema           `json:"items"`
	AdditionalProperties *definitionSchema           `json:"additionalProperties"`
}

// fill returns a value of the schema in which each text is the marker with its path.
func (s definitionSchema) fill(at string, descriptions map[string]string) any {
	switch {
	case s.Type == "object" || len(s.Properties) > 0:
		out := map[string]any{}
		for name, property := range s.Properties {
			out[name] = property.fill(at+"."+name, descriptions)
		}
		if s.AdditionalProperties != nil {
			out["key"] = s.AdditionalProperties.fill(at+".key", descriptions)
		}
		return out
	case s.Type == "array" && s.Items != nil:
		if s.Items.Type == "string" {
			descriptions[at] = s.Description
		}
		return []any{s.Items.fill(at, descriptions)}
	case s.Type == "string":
		if descriptions[at] == "" {
			descriptions[at] = s.Description
		}
		return marker + at
	}
	return nil
}

// suspicious finds fields that may hold a secret, by their name or description.
var suspicious = regexp.MustCompile(`(?i)password|passwd|secret|token|credential|private key|sensitive|protected|confidential settings|settings$`)

// TestNoSecretOfAnyKind fills every field of every kind of the release, and of Cluster API with its kubeadm providers, with a marker. No field
// that may hold a secret is left in a bundle.
func TestNoSecretOfAnyKind(t *testing.T) {
	expectNoSecret(t, crd.Files, 20, true)
	out, err := exec.CommandContext(t.Context(), "go", "list", "-m", "-f", "{{.Dir}}", "sigs.k8s.io/cluster-api").Output()
	if err != nil {
		t.Fatal(err)
	}
	for folder, kinds := range map[string]int{"core/config/crd/bases": 8, "bootstrap/kubeadm/config/crd/bases": 2, "controlplane/kubeadm/config/crd/bases": 2} {
		expectNoSecret(t, os.DirFS(filepath.Join(strings.TrimSpace(string(out)), folder)), kinds, false)
	}
}

// expectNoSecret fills the kinds whose definitions are in a folder, of which there are at least so many. Names of fields are searched for what a
// secret is called. In descriptions of our own kinds these words also mean that the field may hold one.
func expectNoSecret(t *testing.T, files fs.FS, atLeast int, described bool) {
	t.Helper()
	kinds := 0
	err := fs.WalkDir(files, ".", func(name string, entry fs.DirEntry, err error) error {
		if err != nil || entry.IsDir() || path.Ext(name) != ".yaml" {
			return err
		}
		raw, err := fs.ReadFile(files, name)
		if err != nil {
			return err
		}
		var definition struct {
			Spec struct {
				Names    struct{ Kind string }
				Versions []struct {
					Schema struct {
						OpenAPIV3Schema definitionSchema `json:"openAPIV3Schema"`
					}
				}
			}
		}
		if err := yaml.Unmarshal(raw, &definition); err != nil {
			return err
		}
		for _, version := range definition.Spec.Versions {
			kinds++
			descriptions := map[string]string{}
			object, _ := version.Schema.OpenAPIV3Schema.fill("", descriptions).(map[string]any)
			object["metadata"] = map[string]any{"annotations": map[string]any{"kubectl.kubernetes.io/last-applied-configuration": marker}}
			hideSecrets(object)
			shown, err := json.Marshal(object)
			if err != nil {
				return err
			}
			for at, description := range descriptions {
				field := definition.Spec.Names.Kind + at
				field = strings.Replace(field, ".template.spec", "", 1)
				last := at[strings.LastIndexByte(at, '.')+1:]
				if !suspicious.MatchString(last) && !(described && suspicious.MatchString(description)) || !strings.Contains(string(shown), `"`+marker+at+`"`) {
					continue
				}
				if !slices.ContainsFunc(harmless, func(known string) bool { return strings.HasSuffix(at, known) }) {
					t.Errorf("%s is in the bundle: %s", field, description)
				}
			}
			if strings.Contains(string(shown), `configuration":"`+marker) {
				t.Errorf("%s: the annotation of kubectl is in the bundle", name)
			}
		}
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
	if kinds < atLeast {
		t.Errorf("%d kinds", kinds)
	}
}

// harmless are fields whose name or description mentions secrets, and that hold none: references to Secrets and files, and names.
var harmless = []string{
	".spec.clientSecret.name", ".spec.clientSecret.namespace", ".spec.certPath", ".spec.userAssignedIdentityCredentialsPath",
	".spec.userAssignedIdentityCredentialsCloudType", ".addonProfiles.name", ".bootstrap.dataSecretName", ".status.dataSecretName",
}

// TestNoSecretOfUsers puts secrets into fields whose contents users choose: values of Helm charts, and variables of topologies. It expects
// that they are removed, and that similar fields stay.
func TestNoSecretOfUsers(t *testing.T) {
	const text = `[{"kind":"HelmChartProxy","spec":{"clusterSelector":{"matchExpressions":[{"key":"env","operator":"In","values":["prod"]}]},"valuesTemplate":"password: marker-4711"}},
{"kind":"HelmReleaseProxy","spec":{"releaseName":"r","values":"clientSecret: marker-4711"}},
{"kind":"Cluster","spec":{"topology":{"class":"c","variables":[{"name":"registry","value":"marker-4711"},{"name":"proxy","value":{"key":"marker-4711"}}],
"workers":{"machineDeployments":[{"name":"md","variables":{"overrides":[{"name":"registry","value":"marker-4711"}]}}]}}}},
{"kind":"AzureManagedControlPlane","spec":{"extensions":[{"name":"e","configurationSettings":{"apiKey":"marker-4711"},"configurationProtectedSettings":{"k":"marker-4711"}}],
"httpProxyConfig":{"httpsProxy":"http://user:marker-4711@proxy:8080/x"}}}]`
	var objects []map[string]any
	if err := json.Unmarshal([]byte(text), &objects); err != nil {
		t.Fatal(err)
	}
	for _, object := range objects {
		hideSecrets(object)
	}
	shown, err := json.Marshal(objects)
	if err != nil {
		t.Fatal(err)
	}
	if strings.Contains(string(shown), marker) {
		t.Errorf("a secret is in the bundle: %s", shown)
	}
	for _, kept := range []string{`"values":["prod"]`, `"releaseName":"r"`, `"class":"c"`, `"name":"registry"`, `"name":"md"`, `"name":"e"`,
		`http://user:(left out)@proxy:8080/x`} {
		if !strings.Contains(string(shown), kept) {
			t.Errorf("%s is not in the bundle: %s", kept, shown)
		}
	}
}

// TestNoSecretOfBootstrap puts a marker into each place for secrets of a bootstrap configuration and a Secret; it expects none in the
// bundle.
func TestNoSecretOfBootstrap(t *testing.T) {
	const text = `{"kind":"KubeadmConfig","spec":{"files":[{"path":"/etc/a","content":"marker-4711"}],"users":[{"name":"u","passwd":"marker-4711","inactive":false}],
"preKubeadmCommands":["echo marker-4711"],"postKubeadmCommands":["echo marker-4711"],"bootCommands":["marker-4711"],
"clusterConfiguration":{"apiServer":{"extraEnvs":[{"name":"HTTPS_PROXY","value":"http://u:marker-4711@proxy"}]}},
"initConfiguration":{"bootstrapTokens":[{"token":"marker-4711"}],"certificateKey":"x"},"joinConfiguration":{"discovery":{"bootstrapToken":{"token":"marker-4711","apiServerEndpoint":"e"},"tlsBootstrapToken":"marker-4711",
"file":{"kubeConfig":{"user":{"authProvider":{"config":{"password":"marker-4711"}}}}}}},"ignition":{"containerLinuxConfig":{"additionalConfig":"marker-4711"}}},
"status":{"text":"-----BEGIN RSA PRIVATE KEY-----marker-4711-----END RSA PRIVATE KEY-----"},"data":{"value":"marker-4711"},"stringData":{"value":"marker-4711"}}`
	var object map[string]any
	if err := json.Unmarshal([]byte(text), &object); err != nil {
		t.Fatal(err)
	}
	hideSecrets(object)
	shown, err := json.Marshal(object)
	if err != nil {
		t.Fatal(err)
	}
	if strings.Contains(string(shown), marker) {
		t.Errorf("a secret is in the bundle: %s", shown)
	}
	for _, kept := range []string{`"path":"/etc/a"`, `"name":"u"`, `"apiServerEndpoint":"e"`} {
		if !strings.Contains(string(shown), kept) {
			t.Errorf("%s is not in the bundle: %s", kept, shown)
		}
	}
}
