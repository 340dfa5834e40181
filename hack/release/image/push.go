package image

import (
	"context"
	"fmt"

	"github.com/google/go-containerregistry/pkg/authn"
	"github.com/google/go-containerregistry/pkg/name"
	v1 "github.com/google/go-containerregistry/pkg/v1"
	"github.com/google/go-containerregistry/pkg/v1/remote"
)

// Reference names the image in a registry by its digest, which the version before it explains to people.
func Reference(registry, version string, index v1.ImageIndex) (string, error) {
	tag, err := tagged(registry, version)
	if err != nil {
		return "", err
	}
	digest, err := index.Digest()
	if err != nil {
		return "", err
	}
	return tag.Name() + "@" + digest.String(), nil
}

// Push sends the image to a registry, which may have folders in it, as in host/team. Credentials are those of the machine's
// container tools ("docker login" and its like write them). It may be repeated.
func Push(ctx context.Context, registry, version string, index v1.ImageIndex) error {
	tag, err := tagged(registry, version)
	if err != nil {
		return err
	}
	if err := remote.WriteIndex(tag, index, remote.WithContext(ctx), remote.WithAuthFromKeychain(authn.DefaultKeychain)); err != nil {
		return fmt.Errorf("push %s: %w", tag, err)
	}
	return nil
}

func tagged(registry, version string) (name.Tag, error) {
	tag, err := name.NewTag(registry+"/"+Repository+":"+version, name.StrictValidation)
	if err != nil {
		return name.Tag{}, fmt.Errorf("REGISTRY=%s: %w", registry, err)
	}
	return tag, nil
}
