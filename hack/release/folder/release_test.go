package folder

import (
	"encoding/json"
	"maps"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"runtime"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"sigs.k8s.io/cluster-api-provider-azure/hack/release/image"
	"sigs.k8s.io/cluster-api-provider-azure/hack/release/program"
)

const version = "v2.0.1-test.1"

// TestWrite makes a release twice, which gives the same bytes, and looks at all of it. The release has only the architecture of this machine, because
// it takes minutes to compile for another one.
func TestWrite(t *testing.T) {
	root := checkout(t)
	registry := serveRegistry(t)
	release := func(out string) (*Release, map[string]string) {
		r := &Release{Root: root, Out: out, Version: version, Registry: registry, Kustomize: filepath.Join(root, "bin", "kustomize"),
			Downloads: "https://downloads.example", Architectures: []string{runtime.GOARCH},
			Platforms: []program.Platform{{OS: "linux", Architecture: runtime.GOARCH}}}
		if err := r.Write(t.Context()); err != nil {
			t.Fatal(err)
		}
		return r, contents(t, out)
	}
	first, files := release(t.TempDir())
	_, again := release(t.TempDir())
	if diff := cmp.Diff(slices.Sorted(maps.Keys(files)), slices.Sorted(maps.Keys(again))); diff != "" {
		t.Errorf("files of two builds:\n%s", diff)
	}
	for name, content := range files {
		if again[name] != content {
			t.Errorf("%s: two builds differ", name)
		}
	}

	index, err := image.Read(first.Image())
	if err != nil {
		t.Fatal(err)
	}
	digest, err := index.Digest()
	if err != nil {
		t.Fatal(err)
	}
	reference := registry + "/" + image.Repository + ":" + version + "@" + digest.String()

	t.Run("components", func(t *testing.T) {
		plain, err := exec.CommandContext(t.Context(), first.Kustomize, "build", filepath.Join(root, "config", "default")).Output()
		if err != nil {
			t.Fatal(err)
		}
		// Only the image is the release's own: everything else is what other tests and the lab install.
		want := regexp.MustCompile(`(?m)image: registry\.example/.*$`).ReplaceAllLiteralString(string(plain), "image: "+reference)
		if diff := cmp.Diff(want, files[path(first, "infrastructure-components.yaml")]); diff != "" {
			t.Errorf("components (-config/default with the image +released):\n%s", diff)
		}
	})
	t.Run("files", func(t *testing.T) {
		for _, file := range []string{"metadata.yaml", "cluster-template.yaml", "cluster-template-aks.yaml", "clusterclass-default.yaml",
			"clusterclass-aks.yaml", "azure-role-self-managed.json", "azure-role-aks.json", "capz.yaml", "argocd-health.yaml", "flux-health.yaml",
			"monitoring-service.yaml", "monitoring-service_monitor.yaml", "monitoring-prometheus_rule.yaml", "monitoring-dashboard.json",
			"monitoring-kube-state-metrics.yaml", "install.yaml", "images.txt", "infrastructure-provider.yaml",
			"cluster-api-provider-azure-2.0.1-test.1.tgz",
			"kubectl-capz_linux_" + runtime.GOARCH + ".tar.gz"} {
			if files[path(first, file)] == "" {
				t.Errorf("the folder has no %s", file)
			}
		}
		check := exec.CommandContext(t.Context(), "sha256sum", "--check", "--strict", "--quiet", "SHA256SUMS")
		check.Dir = first.Folder()
		if out, err := check.CombinedOutput(); err != nil {
			t.Errorf("checksums: %v\n%s", err, out)
		}
		if sums, all := strings.Count(files[path(first, "SHA256SUMS")], "\n"), len(entries(t, first.Folder())); sums != all-1 {
			t.Errorf("%d files have checksums, want %d", sums, all-1)
		}
	})
	t.Run("installation", func(t *testing.T) {
		if install := files[path(first, "install.yaml")]; strings.Contains(install, "${") || !strings.Contains(install, reference) ||
			!strings.Contains(install, "--tenancy=isolated\n") {
			t.Error("install.yaml has a variable of clusterctl, or not the image of the release, or not the default of a variable")
		}
		// Every image of the components is in the list, and nothing else.
		images := regexp.MustCompile(`(?m)^ +(?:- )?image: (.*)$`).FindAllStringSubmatch(files[path(first, "infrastructure-components.yaml")], -1)
		if len(images) != 1 || files[path(first, "images.txt")] != images[0][1]+"\n" {
			t.Errorf("images.txt has %q, and the components %q", files[path(first, "images.txt")], images)
		}
	})
	t.Run("notes", func(t *testing.T) {
		notes := files[path(first, "release-notes.md")]
		for _, words := range []string{reference, "\n## Breaking changes\n", "\n## New\n", "\n## Fixed\n", "\n## Upgrade from\n", "\n## Known issues\n",
			"\n## Moving from CAPZ\n", "--infrastructure azure:" + version} {
			if !strings.Contains(notes, words) {
				t.Errorf("the notes do not have %q", words)
			}
		}
	})
	t.Run("list of contents", func(t *testing.T) {
		checkList(t, root, files[path(first, "sbom.spdx.json")], digest.Hex)
	})
	t.Run("image", func(t *testing.T) {
		if err := image.Push(t.Context(), registry, version, index); err != nil {
			t.Fatal(err)
		}
		// Clusters run the image that the components name, not the one in the folder.
		out := runPulled(t, reference, "--version")
		if out != version+"\n" {
			t.Errorf("the manager of the image has version %q, want %s", out, version)
		}
	})
}

// checkList looks whether the list has the image, and the modules of go.mod that the manager is linked from, and refers to nothing else.
func checkList(t *testing.T, root, list, digest string) {
	t.Helper()
	var got struct {
		SPDXVersion string
		Packages    []struct {
			SPDXID, Name, VersionInfo string
			Checksums                 []struct{ ChecksumValue string }
		}
		Relationships []struct {
			SpdxElementID      string `json:"spdxElementId"`
			RelatedSpdxElement string `json:"relatedSpdxElement"`
		}
	}
	if err := json.Unmarshal([]byte(list), &got); err != nil {
		t.Fatal(err)
	}
	ids, versions := map[string]bool{"SPDXRef-DOCUMENT": true}, map[string]string{}
	for _, p := range got.Packages {
		if ids[p.SPDXID] || !regexp.MustCompile(`^SPDXRef-[A-Za-z0-9.-]+$`).MatchString(p.SPDXID) {
			t.Errorf("identifier %s exists twice or is none", p.SPDXID)
		}
		ids[p.SPDXID], versions[p.Name] = true, p.VersionInfo
	}
	for _, r := range got.Relationships {
		if !ids[r.SpdxElementID] || !ids[r.RelatedSpdxElement] {
			t.Errorf("%s is related to %s, which are not both in the list", r.SpdxElementID, r.RelatedSpdxElement)
		}
	}
	if got.SPDXVersion != "SPDX-2.3" || len(got.Packages) == 0 || got.Packages[0].Checksums[0].ChecksumValue != digest {
		t.Errorf("the list does not begin with the image %s: %.300s", digest, list)
	}
	raw, err := os.ReadFile(filepath.Join(root, "go.mod"))
	if err != nil {
		t.Fatal(err)
	}
	for _, module := range []string{"sigs.k8s.io/controller-runtime", "k8s.io/client-go", "github.com/Azure/azure-sdk-for-go/sdk/azcore"} {
		if versions[module] == "" || !strings.Contains(string(raw), "\t"+module+" "+versions[module]+"\n") {
			t.Errorf("%s is in the list as %q, which go.mod lacks", module, versions[module])
		}
	}
	for _, part := range []string{"std", "golang.org/x/crypto/x509roots/fallback"} {
		if versions[part] == "" {
			t.Errorf("%s is not in the list", part)
		}
	}
	for _, part := range []string{"sigs.k8s.io/cluster-api-provider-azure", "sigs.k8s.io/cluster-api-provider-azure/sim"} {
		if versions[part] == "" || versions[part] != got.Packages[0].VersionInfo {
			t.Errorf("%s is in the list as %q, want the version of the image, %q", part, versions[part], got.Packages[0].VersionInfo)
		}
	}
}

// path is that of a file of the folder, from where everything that is made is.
func path(r *Release, file string) string {
	return filepath.Join("infrastructure-azure", r.Version, file)
}

// contents returns all files below a folder, by path.
func contents(t *testing.T, folder string) map[string]string {
	t.Helper()
	out := map[string]string{}
	err := filepath.WalkDir(folder, func(path string, entry os.DirEntry, err error) error {
		if err != nil || entry.IsDir() {
			return err
		}
		raw, err := os.ReadFile(path)
		if err != nil {
			return err
		}
		short, err := filepath.Rel(folder, path)
		out[short] = string(raw)
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
	return out
}

func entries(t *testing.T, folder string) []os.DirEntry {
	t.Helper()
	out, err := os.ReadDir(folder)
	if err != nil {
		t.Fatal(err)
	}
	return out
}
