// Package image makes the manager's image, writes it to a folder in the OCI image layout, and pushes it. The same programs
// give the same digests. No container engine takes part.
package image

import (
	"fmt"
	"os"
	"path/filepath"
	"strconv"
	"time"

	v1 "github.com/google/go-containerregistry/pkg/v1"
	"github.com/google/go-containerregistry/pkg/v1/empty"
	"github.com/google/go-containerregistry/pkg/v1/layout"
	"github.com/google/go-containerregistry/pkg/v1/mutate"
	"github.com/google/go-containerregistry/pkg/v1/types"
)

// Repository is the last part of the image's name, which the registry comes before.
const Repository = "cluster-api-azure-controller"

// User is who the program runs as, that of config/manager. It has a number only: there is no /etc/passwd.
const User = 65532

const (
	programPath = "manager"
	rootsPath   = "etc/ssl/certs/ca-certificates.crt"
)

// epoch is the time of everything: when something was built is none of its content.
var epoch = time.Unix(0, 0).UTC()

// New returns an image for every architecture. programs are paths of static programs by architecture.
func New(programs map[string]string, architectures []string, version string) (v1.ImageIndex, error) {
	roots, err := newLayer(file{name: rootsPath, mode: 0o644, content: rootCertificates()})
	if err != nil {
		return nil, fmt.Errorf("layer of root certificates: %w", err)
	}
	index := mutate.IndexMediaType(empty.Index, types.OCIImageIndex)
	for _, architecture := range architectures {
		program, err := os.ReadFile(programs[architecture])
		if err != nil {
			return nil, err
		}
		layer, err := newLayer(file{name: programPath, mode: 0o755, content: program})
		if err != nil {
			return nil, fmt.Errorf("layer of the program for %s: %w", architecture, err)
		}
		platform := v1.Platform{OS: "linux", Architecture: architecture}
		one, err := forPlatform(platform, version, roots, layer)
		if err != nil {
			return nil, fmt.Errorf("image for %s: %w", platform, err)
		}
		index = mutate.AppendManifests(index, mutate.IndexAddendum{Add: one, Descriptor: v1.Descriptor{Platform: &platform}})
	}
	return mutate.Annotations(index, labels(version)).(v1.ImageIndex), nil
}

func forPlatform(platform v1.Platform, version string, layers ...v1.Layer) (v1.Image, error) {
	one, err := mutate.ConfigFile(empty.Image, &v1.ConfigFile{
		OS: platform.OS, Architecture: platform.Architecture, Created: v1.Time{Time: epoch},
		RootFS: v1.RootFS{Type: "layers"},
		Config: v1.Config{
			User: strconv.Itoa(User) + ":" + strconv.Itoa(User), Entrypoint: []string{"/" + programPath}, WorkingDir: "/", Labels: labels(version),
		},
	})
	if err != nil {
		return nil, err
	}
	one = mutate.ConfigMediaType(mutate.MediaType(one, types.OCIManifestSchema1), types.OCIConfigJSON)
	for i, layer := range layers {
		history := v1.History{Created: v1.Time{Time: epoch}, CreatedBy: []string{"root certificates", "program"}[i]}
		if one, err = mutate.Append(one, mutate.Addendum{Layer: layer, MediaType: types.OCILayer, History: history}); err != nil {
			return nil, err
		}
	}
	return one, nil
}

// labels returns those of https://specs.opencontainers.org/image-spec/annotations.
func labels(version string) map[string]string {
	return map[string]string{
		"org.opencontainers.image.title":    Repository,
		"org.opencontainers.image.version":  version,
		"org.opencontainers.image.licenses": "Apache-2.0",
	}
}

// Write replaces the folder by an OCI image layout with the image.
func Write(folder string, index v1.ImageIndex, version string) error {
	// Only the files of a layout are removed: a mistake in the path must not delete other files.
	for _, name := range []string{"oci-layout", "index.json", "blobs"} {
		if err := os.RemoveAll(filepath.Join(folder, name)); err != nil {
			return err
		}
	}
	path, err := layout.Write(folder, empty.Index)
	if err != nil {
		return err
	}
	return path.AppendIndex(index, layout.WithAnnotations(map[string]string{"org.opencontainers.image.ref.name": version}))
}

// Read returns the image that Write wrote.
func Read(folder string) (v1.ImageIndex, error) {
	path, err := layout.FromPath(folder)
	if err != nil {
		return nil, fmt.Errorf("%w: run `make image` first", err)
	}
	all, err := path.ImageIndex()
	if err != nil {
		return nil, err
	}
	manifest, err := all.IndexManifest()
	if err != nil {
		return nil, err
	}
	if len(manifest.Manifests) != 1 {
		return nil, fmt.Errorf("%s has %d images, want one: run `make image`", folder, len(manifest.Manifests))
	}
	return all.ImageIndex(manifest.Manifests[0].Digest)
}
