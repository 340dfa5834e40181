package folder

import (
	"archive/tar"
	"errors"
	"io"
	"log"
	"net/http/httptest"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"slices"
	"strconv"
	"strings"
	"syscall"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-containerregistry/pkg/name"
	"github.com/google/go-containerregistry/pkg/registry"
	v1 "github.com/google/go-containerregistry/pkg/v1"
	"github.com/google/go-containerregistry/pkg/v1/mutate"
	"github.com/google/go-containerregistry/pkg/v1/remote"
	"github.com/google/go-containerregistry/pkg/v1/validate"
)

// serveRegistry returns the address of a registry.
func serveRegistry(t *testing.T) string {
	t.Helper()
	server := httptest.NewServer(registry.New(registry.Logger(log.New(io.Discard, "", 0))))
	t.Cleanup(server.Close)
	return strings.TrimPrefix(server.URL, "http://")
}

// runPulled treats an image like a node: it pulls the image of its architecture, unpacks it, and runs its program as
// the user whom the image names, with no files but those of the image.
func runPulled(t *testing.T, reference string, arguments ...string) string {
	t.Helper()
	named, err := name.ParseReference(reference)
	if err != nil {
		t.Fatal(err)
	}
	pulled := pull(t, named, runtime.GOARCH)
	if err := validate.Image(pulled); err != nil {
		t.Errorf("the image: %v", err)
	}
	config, err := pulled.ConfigFile()
	if err != nil {
		t.Fatal(err)
	}
	user, group, _ := strings.Cut(config.Config.User, ":")
	uid, err := strconv.Atoi(user)
	if err != nil || uid == 0 {
		t.Fatalf("the image names the user %q, want a number that is not root's", config.Config.User)
	}
	gid, err := strconv.Atoi(group)
	if err != nil {
		t.Fatalf("the image names the group %q, want a number", group)
	}
	root := t.TempDir()
	files := unpack(t, pulled, root)
	want := []string{"etc", "etc/ssl", "etc/ssl/certs", "etc/ssl/certs/ca-certificates.crt", "manager"}
	if diff := cmp.Diff(want, slices.Sorted(slices.Values(files))); diff != "" {
		t.Errorf("files of the image (-want +got):\n%s", diff)
	}
	command := exec.CommandContext(t.Context(), config.Config.Entrypoint[0], arguments...)
	command.Dir, command.Env = config.Config.WorkingDir, []string{"HOME=/"}
	command.SysProcAttr = &syscall.SysProcAttr{Chroot: root, Credential: &syscall.Credential{Uid: uint32(uid), Gid: uint32(gid)}}
	if os.Geteuid() != 0 {
		// Who is not root becomes any user in a namespace of its own.
		command.SysProcAttr.Cloneflags = syscall.CLONE_NEWUSER
		command.SysProcAttr.UidMappings = []syscall.SysProcIDMap{{ContainerID: uid, HostID: os.Geteuid(), Size: 1}}
		command.SysProcAttr.GidMappings = []syscall.SysProcIDMap{{ContainerID: gid, HostID: os.Getegid(), Size: 1}}
		command.SysProcAttr.Credential.NoSetGroups = true
	}
	out, err := command.Output()
	if err != nil {
		t.Fatalf("%s %v as %s: %v", config.Config.Entrypoint, arguments, config.Config.User, err)
	}
	return string(out)
}

func pull(t *testing.T, named name.Reference, architecture string) v1.Image {
	t.Helper()
	pulled, err := remote.Image(named, remote.WithContext(t.Context()),
		remote.WithPlatform(v1.Platform{OS: "linux", Architecture: architecture}))
	if err != nil {
		t.Fatalf("pull %s for %s: %v", named, architecture, err)
	}
	return pulled
}

// unpack writes an image to a folder and returns the names of its files.
func unpack(t *testing.T, pulled v1.Image, root string) (files []string) {
	t.Helper()
	content := mutate.Extract(pulled)
	defer content.Close()
	archive := tar.NewReader(content)
	for {
		header, err := archive.Next()
		if errors.Is(err, io.EOF) {
			return files
		}
		if err != nil {
			t.Fatal(err)
		}
		files = append(files, header.Name)
		if header.Uid != 0 || header.Gid != 0 || header.Mode&0o022 != 0 || header.ModTime.Unix() != 0 {
			t.Errorf("%s: of %d:%d, mode %o, of %s; want root as the owner, no write permission for others, no time", header.Name, header.Uid,
				header.Gid,
				header.Mode, header.ModTime)
		}
		at := filepath.Join(root, header.Name)
		if header.Typeflag == tar.TypeDir {
			if err := os.MkdirAll(at, os.FileMode(header.Mode)); err != nil {
				t.Fatal(err)
			}
			continue
		}
		raw, err := io.ReadAll(archive)
		if err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(at, raw, os.FileMode(header.Mode)); err != nil {
			t.Fatal(err)
		}
	}
}
