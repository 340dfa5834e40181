// Package plugin makes the files of the kubectl plugin: one archive for each platform, and the manifest for krew. The same source and the
// same Go give the same bytes.
package plugin

import (
	"archive/tar"
	"archive/zip"
	"bytes"
	"compress/gzip"
	"context"
	"crypto/sha256"
	"fmt"
	"os"
	"path/filepath"
	"time"

	"sigs.k8s.io/yaml"

	"sigs.k8s.io/cluster-api-provider-azure/hack/release/program"
)

// Platforms are those that releases have.
var Platforms = []program.Platform{{OS: "linux", Architecture: "amd64"}, {OS: "linux", Architecture: "arm64"},
	{OS: "darwin", Architecture: "amd64"}, {OS: "darwin", Architecture: "arm64"},
	{OS: "windows", Architecture: "amd64"}, {OS: "windows", Architecture: "arm64"}}

// Name is the name of the program. kubectl finds it as `kubectl capz`.
const Name = "kubectl-capz"

// epoch is the time of all files. A zip archive cannot have an earlier one.
var epoch = time.Date(1980, 1, 1, 0, 0, 0, 0, time.UTC)

// WriteFiles returns the archives and the manifest by name. downloads is the URL of the folder with the files of this release.
func WriteFiles(ctx context.Context, root, version, downloads string, platforms []program.Platform) (map[string][]byte, error) {
	folder, err := os.MkdirTemp("", "plugin-")
	if err != nil {
		return nil, err
	}
	defer os.RemoveAll(folder)
	files := map[string][]byte{}
	var entries []map[string]any
	for _, platform := range platforms {
		binary := Name
		if platform.OS == "windows" {
			binary += ".exe"
		}
		out := filepath.Join(folder, binary)
		if err := program.Build(ctx, root, "./cmd/"+Name, version, platform, out); err != nil {
			return nil, err
		}
		content, err := os.ReadFile(out)
		if err != nil {
			return nil, err
		}
		name, archive, err := pack(platform, binary, content)
		if err != nil {
			return nil, err
		}
		files[name] = archive
		entries = append(entries, map[string]any{
			"selector": map[string]any{"matchLabels": map[string]any{"os": platform.OS, "arch": platform.Architecture}},
			"uri":      downloads + "/" + name, "sha256": fmt.Sprintf("%x", sha256.Sum256(archive)), "bin": binary,
		})
	}
	files["capz.yaml"], err = manifest(version, entries)
	return files, err
}

// pack returns an archive with the program: zip for Windows, tar.gz for others, which krew unpacks.
func pack(platform program.Platform, binary string, content []byte) (name string, archive []byte, err error) {
	name = fmt.Sprintf("%s_%s_%s", Name, platform.OS, platform.Architecture)
	out := &bytes.Buffer{}
	if platform.OS == "windows" {
		writer := zip.NewWriter(out)
		file, err := writer.CreateHeader(&zip.FileHeader{Name: binary, Method: zip.Deflate, Modified: epoch})
		if err != nil {
			return "", nil, err
		}
		if _, err := file.Write(content); err != nil {
			return "", nil, err
		}
		if err := writer.Close(); err != nil {
			return "", nil, err
		}
		return name + ".zip", out.Bytes(), nil
	}
	compressed := gzip.NewWriter(out)
	writer := tar.NewWriter(compressed)
	header := &tar.Header{Name: binary, Mode: 0o755, Size: int64(len(content)), ModTime: epoch, Format: tar.FormatUSTAR}
	if err := writer.WriteHeader(header); err != nil {
		return "", nil, err
	}
	if _, err := writer.Write(content); err != nil {
		return "", nil, err
	}
	if err := writer.Close(); err != nil {
		return "", nil, err
	}
	if err := compressed.Close(); err != nil {
		return "", nil, err
	}
	return name + ".tar.gz", out.Bytes(), nil
}

// manifest returns the manifest for krew: https://krew.sigs.k8s.io/docs/developer-guide/plugin-manifest/
func manifest(version string, platforms []map[string]any) ([]byte, error) {
	return yaml.Marshal(map[string]any{
		"apiVersion": "krew.googlecontainertools.github.com/v1alpha2", "kind": "Plugin", "metadata": map[string]any{"name": "capz"},
		"spec": map[string]any{
			"version":          version,
			"shortDescription": "Preview, migrate and adopt clusters on Azure",
			"description":      "Previews changes of Cluster API clusters on Azure, and migrates management clusters from CAPZ and back.\n",
			"platforms":        platforms,
		},
	})
}
