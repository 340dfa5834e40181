package image

import (
	"archive/tar"
	"bytes"
	"io"
	"path"
	"slices"

	v1 "github.com/google/go-containerregistry/pkg/v1"
	"github.com/google/go-containerregistry/pkg/v1/tarball"
	"github.com/google/go-containerregistry/pkg/v1/types"
)

// file is the only one of a layer. It and its folders belong to root, and no other user can write them.
type file struct {
	name    string
	mode    int64
	content []byte
}

func newLayer(f file) (v1.Layer, error) {
	var raw bytes.Buffer
	archive := tar.NewWriter(&raw)
	var folders []string
	for folder := path.Dir(f.name); folder != "."; folder = path.Dir(folder) {
		folders = append(folders, folder)
	}
	slices.Reverse(folders)
	for _, folder := range folders {
		if err := archive.WriteHeader(&tar.Header{Typeflag: tar.TypeDir, Name: folder + "/", Mode: 0o755, ModTime: epoch,
			Format: tar.FormatUSTAR}); err != nil {
			return nil, err
		}
	}
	if err := archive.WriteHeader(&tar.Header{Typeflag: tar.TypeReg, Name: f.name, Size: int64(len(f.content)), Mode: f.mode, ModTime: epoch,
		Format: tar.FormatUSTAR}); err != nil {
		return nil, err
	}
	if _, err := archive.Write(f.content); err != nil {
		return nil, err
	}
	if err := archive.Close(); err != nil {
		return nil, err
	}
	opener := func() (io.ReadCloser, error) { return io.NopCloser(bytes.NewReader(raw.Bytes())), nil }
	return tarball.LayerFromOpener(opener, tarball.WithMediaType(types.OCILayer), tarball.WithCompressedCaching)
}
