package plugin

import (
	"archive/tar"
	"archive/zip"
	"bytes"
	"compress/gzip"
	"crypto/sha256"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"runtime"
	"strings"
	"testing"

	"sigs.k8s.io/yaml"

	"sigs.k8s.io/cluster-api-provider-azure/hack/release/program"
)

// TestWriteFiles makes the files for the platform of the test, runs the program of the archive, and compares the manifest with it.
func TestWriteFiles(t *testing.T) {
	root, err := filepath.Abs(filepath.Join("..", "..", ".."))
	if err != nil {
		t.Fatal(err)
	}
	platform := program.Platform{OS: runtime.GOOS, Architecture: runtime.GOARCH}
	files, err := WriteFiles(t.Context(), root, "v2.0.1-test.1", "https://downloads.example/v2.0.1-test.1", []program.Platform{platform})
	if err != nil {
		t.Fatal(err)
	}
	name := fmt.Sprintf("kubectl-capz_%s_%s.tar.gz", runtime.GOOS, runtime.GOARCH)
	binary := filepath.Join(t.TempDir(), Name)
	if err := os.WriteFile(binary, unpackTar(t, files[name]), 0o755); err != nil {
		t.Fatal(err)
	}
	if out, err := exec.CommandContext(t.Context(), binary, "--version").Output(); err != nil ||
		string(out) != "kubectl capz version v2.0.1-test.1\n" {
		t.Errorf("the program answers %q, %v", out, err)
	}
	var got struct {
		Spec struct {
			Version   string
			Platforms []struct {
				Selector         struct{ MatchLabels map[string]string }
				URI, SHA256, Bin string
			}
		}
	}
	if err := yaml.Unmarshal(files["capz.yaml"], &got); err != nil || len(got.Spec.Platforms) != 1 || got.Spec.Version != "v2.0.1-test.1" {
		t.Fatalf("%v: the manifest is\n%s", err, files["capz.yaml"])
	}
	entry := got.Spec.Platforms[0]
	if entry.URI != "https://downloads.example/v2.0.1-test.1/"+name || entry.Bin != Name ||
		entry.SHA256 != fmt.Sprintf("%x", sha256.Sum256(files[name])) || entry.Selector.MatchLabels["os"] != runtime.GOOS {
		t.Errorf("the manifest has %+v", entry)
	}
}

// TestPack checks that archives of all platforms have the program alone, with its content.
func TestPack(t *testing.T) {
	for _, platform := range Platforms {
		name, archive, err := pack(platform, "program", []byte("content"))
		if err != nil {
			t.Fatal(err)
		}
		var got []byte
		if platform.OS == "windows" {
			reader, err := zip.NewReader(bytes.NewReader(archive), int64(len(archive)))
			if err != nil || len(reader.File) != 1 || reader.File[0].Name != "program" {
				t.Fatalf("%s: %v, %v", name, err, reader)
			}
			file, err := reader.File[0].Open()
			if err != nil {
				t.Fatal(err)
			}
			got, err = io.ReadAll(file)
			if err != nil {
				t.Fatal(err)
			}
		} else {
			got = unpackTar(t, archive)
		}
		if string(got) != "content" {
			t.Errorf("%s has %q", name, got)
		}
	}
}

// TestInstallation unpacks the archive with the commands of docs/book/release.md and docs/book/moving-from-capz.md.
func TestInstallation(t *testing.T) {
	for page, pattern := range map[string]string{"release.md": "(?m)^sudo (tar .* -C /usr/local/bin)$", "moving-from-capz.md": "`sudo (tar .* -C /usr/local/bin)`"} {
		raw, err := os.ReadFile(filepath.Join("..", "..", "..", "docs", "book", page))
		if err != nil {
			t.Fatal(err)
		}
		command := regexp.MustCompile(pattern).FindSubmatch(raw)
		if command == nil {
			t.Errorf("docs/book/%s has no command that unpacks the plugin", page)
			continue
		}
		name, archive, err := pack(program.Platform{OS: "linux", Architecture: "amd64"}, Name, []byte("content"))
		if err != nil {
			t.Fatal(err)
		}
		folder := t.TempDir()
		if err := os.WriteFile(filepath.Join(folder, name), archive, 0o600); err != nil {
			t.Fatal(err)
		}
		run := exec.CommandContext(t.Context(), "bash", "-c", strings.ReplaceAll(string(command[1]), "/usr/local/bin", folder))
		run.Dir = folder
		if out, err := run.CombinedOutput(); err != nil {
			t.Errorf("%s: %v: %s", command[1], err, out)
		}
		if info, err := os.Stat(filepath.Join(folder, "kubectl-capz")); err != nil || info.Mode()&0o111 == 0 {
			t.Errorf("%s leaves no program: %v", command[1], err)
		}
	}
}

func unpackTar(t *testing.T, archive []byte) []byte {
	t.Helper()
	compressed, err := gzip.NewReader(bytes.NewReader(archive))
	if err != nil {
		t.Fatal(err)
	}
	reader := tar.NewReader(compressed)
	header, err := reader.Next()
	if err != nil || header.Mode != 0o755 {
		t.Fatalf("%v: %+v", err, header)
	}
	content, err := io.ReadAll(reader)
	if err != nil {
		t.Fatal(err)
	}
	if _, err := reader.Next(); err != io.EOF {
		t.Errorf("the archive has more than one file: %v", err)
	}
	return content
}
