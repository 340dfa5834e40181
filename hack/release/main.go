// Command release makes what people install.
//
//	go run . [-root DIRECTORY] [-version VERSION] [-registry REGISTRY] image | push | folder
//
// image builds the manager's image into out/image, push sends it to the registry, and folder writes the image and the folder
// that clusterctl installs from, out/infrastructure-azure/VERSION, whose components name the image of the registry by digest.
package main

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"io"
	"os"
	"os/signal"
	"path/filepath"
	"slices"
	"strings"
	"syscall"

	v1 "github.com/google/go-containerregistry/pkg/v1"

	"sigs.k8s.io/cluster-api-provider-azure/hack/release/folder"
	"sigs.k8s.io/cluster-api-provider-azure/hack/release/image"
	"sigs.k8s.io/cluster-api-provider-azure/hack/release/program"
)

func main() {
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	defer stop()
	if err := run(ctx, os.Stdout, os.Args[1:]); err != nil && !errors.Is(err, flag.ErrHelp) {
		fmt.Fprintln(os.Stderr, "release:", err)
		os.Exit(1)
	}
}

func run(ctx context.Context, out io.Writer, arguments []string) error {
	flags := flag.NewFlagSet("release", flag.ContinueOnError)
	r, architectures := &folder.Release{}, ""
	flags.StringVar(&r.Root, "root", filepath.Join("..", ".."), "The checkout.")
	flags.StringVar(&r.Out, "out", "", "Folder for the results. Defaults to the folder out of the checkout.")
	flags.StringVar(&r.Version, "version", "", "Version of the release, as in v2.0.0.")
	flags.StringVar(&r.Registry, "registry", "registry.example", "Registry of the image, with folders if it has them.")
	flags.StringVar(&r.Downloads, "downloads", "https://downloads.example",
		"URL of the folder with the folders of releases, from which krew gets the kubectl plugin.")
	flags.StringVar(&architectures, "architectures", "",
		"Architectures of the image, and of the kubectl plugin for Linux, separated by commas; empty is all platforms that releases have.")
	flags.StringVar(&r.Kustomize, "kustomize", "", "The program kustomize; empty is the one in bin of the checkout.")
	if err := flags.Parse(arguments); err != nil {
		return err
	}
	for architecture := range strings.SplitSeq(architectures, ",") {
		switch {
		case architecture == "":
		case !slices.Contains(program.Architectures, architecture):
			return fmt.Errorf("-architectures %q: releases have %s", architecture, strings.Join(program.Architectures, ", "))
		default:
			r.Architectures = append(r.Architectures, architecture)
			r.Platforms = append(r.Platforms, program.Platform{OS: "linux", Architecture: architecture})
		}
	}
	root, err := filepath.Abs(r.Root)
	if err != nil {
		return err
	}
	r.Root = root
	if r.Out == "" {
		r.Out = filepath.Join(root, "out")
	}
	if r.Kustomize == "" {
		r.Kustomize = filepath.Join(root, "bin", "kustomize")
	}
	switch flags.Arg(0) {
	case "image":
		index, _, done, err := r.WriteImage(ctx)
		if done != nil {
			err = errors.Join(err, done())
		}
		if err != nil {
			return err
		}
		return tell(out, r.Image(), index)
	case "push":
		return push(ctx, out, r)
	case "folder":
		if err := r.Write(ctx); err != nil {
			return err
		}
		entries, err := os.ReadDir(r.Folder())
		for _, entry := range entries {
			fmt.Fprintln(out, filepath.Join(r.Folder(), entry.Name()))
		}
		return err
	default:
		return fmt.Errorf("unknown command %q: use image, push or folder", flags.Arg(0))
	}
}

func push(ctx context.Context, out io.Writer, r *folder.Release) error {
	if err := folder.CheckVersion(r.Root, r.Version); err != nil {
		return err
	}
	index, err := image.Read(r.Image())
	if err != nil {
		return err
	}
	reference, err := image.Reference(r.Registry, r.Version, index)
	if err != nil {
		return err
	}
	if err := image.Push(ctx, r.Registry, r.Version, index); err != nil {
		return err
	}
	fmt.Fprintln(out, reference)
	return nil
}

// tell prints the digest and how much there is to download for each platform.
func tell(out io.Writer, where string, index v1.ImageIndex) error {
	digest, err := index.Digest()
	if err != nil {
		return err
	}
	fmt.Fprintln(out, where, digest)
	manifest, err := index.IndexManifest()
	if err != nil {
		return err
	}
	for _, descriptor := range manifest.Manifests {
		one, err := index.Image(descriptor.Digest)
		if err != nil {
			return err
		}
		layers, err := one.Layers()
		if err != nil {
			return err
		}
		var size int64
		for _, layer := range layers {
			bytes, err := layer.Size()
			if err != nil {
				return err
			}
			size += bytes
		}
		fmt.Fprintf(out, "  %s  %.1f MB\n", descriptor.Platform, float64(size)/1e6)
	}
	return nil
}
