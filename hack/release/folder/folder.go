// Package folder builds a release: the image, and the folder that clusterctl installs from with components, metadata,
// templates and classes, an SPDX list of the contents of the image, checksums and notes. The same source and the same
// Go give the same bytes. A folder is complete or absent.
package folder

import (
	"context"
	"fmt"
	"maps"
	"os"
	"path/filepath"

	v1 "github.com/google/go-containerregistry/pkg/v1"

	"sigs.k8s.io/cluster-api-provider-azure/hack/release/image"
	"sigs.k8s.io/cluster-api-provider-azure/hack/release/notes"
	"sigs.k8s.io/cluster-api-provider-azure/hack/release/plugin"
	"sigs.k8s.io/cluster-api-provider-azure/hack/release/program"
	"sigs.k8s.io/cluster-api-provider-azure/hack/release/sbom"
)

// Release has the contents of a release and its destination.
type Release struct {
	// Root is the checkout, Out the folder for everything that is made.
	Root, Out string
	// Version is the release's, Registry the place that clusters get its image from.
	Version, Registry string
	// Architectures are those of the image; none is all that releases have.
	Architectures []string
	// Platforms are those of the kubectl plugin; none is all that releases have.
	Platforms []program.Platform
	// Downloads is the URL of the folder above the folder of the release, from which krew gets the plugin.
	Downloads string
	// Kustomize is the program.
	Kustomize string
}

// Image returns the folder with the image.
func (r *Release) Image() string { return filepath.Join(r.Out, "image") }

// Folder returns what clusterctl reads: it wants exactly {base}/{label}/{version}.
func (r *Release) Folder() string { return filepath.Join(r.Out, "infrastructure-azure", r.Version) }

// WriteImage builds the manager for each architecture and writes the image. programs are the managers, which live until
// done is called.
func (r *Release) WriteImage(ctx context.Context) (index v1.ImageIndex, programs []string, done func() error, err error) {
	if err := CheckVersion(r.Root, r.Version); err != nil {
		return nil, nil, nil, err
	}
	folder, err := os.MkdirTemp("", "release-")
	if err != nil {
		return nil, nil, nil, err
	}
	done = func() error { return os.RemoveAll(folder) }
	byArchitecture := map[string]string{}
	architectures := r.Architectures
	if len(architectures) == 0 {
		architectures = program.Architectures
	}
	for _, architecture := range architectures {
		out := filepath.Join(folder, "manager-"+architecture)
		platform := program.Platform{OS: "linux", Architecture: architecture}
		if err := program.Build(ctx, r.Root, "./cmd/manager", r.Version, platform, out); err != nil {
			return nil, nil, done, err
		}
		byArchitecture[architecture] = out
		programs = append(programs, out)
	}
	if index, err = image.New(byArchitecture, architectures, r.Version); err != nil {
		return nil, nil, done, err
	}
	return index, programs, done, image.Write(r.Image(), index, r.Version)
}

// Write makes the image and the folder.
func (r *Release) Write(ctx context.Context) (err error) {
	index, programs, done, err := r.WriteImage(ctx)
	if done != nil {
		defer func() {
			if gone := done(); err == nil {
				err = gone
			}
		}()
	}
	if err != nil {
		return err
	}
	reference, err := image.Reference(r.Registry, r.Version, index)
	if err != nil {
		return err
	}
	digest, err := index.Digest()
	if err != nil {
		return err
	}
	files, err := r.manifests(ctx, digest.String())
	if err != nil {
		return err
	}
	roots, err := rootsModule(ctx, r.Root)
	if err != nil {
		return err
	}
	list, err := sbom.Write(sbom.Release{Name: image.Repository, Version: r.Version, Digest: digest.String(), Programs: programs,
		Roots: roots})
	if err != nil {
		return err
	}
	files["sbom.spdx.json"] = list
	notes, err := r.notes(reference)
	if err != nil {
		return err
	}
	files["release-notes.md"] = []byte(notes)
	platforms := r.Platforms
	if len(platforms) == 0 {
		platforms = plugin.Platforms
	}
	plugins, err := plugin.WriteFiles(ctx, r.Root, r.Version, r.Downloads+"/"+r.Version, platforms)
	if err != nil {
		return err
	}
	maps.Copy(files, plugins)
	files["SHA256SUMS"] = sums(files)
	return replace(r.Folder(), files)
}

// notes returns those of the release, from the documentation of the checkout.
func (r *Release) notes(reference string) (string, error) {
	page, err := os.ReadFile(filepath.Join(r.Root, "docs", "release-notes.md"))
	if err != nil {
		return "", err
	}
	differences, err := os.ReadFile(filepath.Join(r.Root, "docs", "differences.md"))
	if err != nil {
		return "", err
	}
	return notes.Write(notes.Release{Version: r.Version, Image: reference, Notes: string(page), Differences: string(differences)})
}

// replace puts the files where the folder is, at once.
func replace(folder string, files map[string][]byte) error {
	if err := os.MkdirAll(filepath.Dir(folder), 0o755); err != nil {
		return err
	}
	fresh, err := os.MkdirTemp(filepath.Dir(folder), ".release-")
	if err != nil {
		return err
	}
	defer os.RemoveAll(fresh)
	if err := os.Chmod(fresh, 0o755); err != nil {
		return err
	}
	for name, content := range files {
		if err := os.WriteFile(filepath.Join(fresh, name), content, 0o644); err != nil {
			return err
		}
	}
	if err := os.RemoveAll(folder); err != nil {
		return err
	}
	if err := os.Rename(fresh, folder); err != nil {
		return fmt.Errorf("%s: %w", folder, err)
	}
	return nil
}
