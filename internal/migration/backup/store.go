package backup

import (
	"bytes"
	"cmp"
	"compress/gzip"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"slices"
	"strconv"

	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"sigs.k8s.io/cluster-api-provider-azure/internal/migration"
)

const (
	// SecretName is the name of the Secret with the number of parts and the beginning of their names. It is written last and deleted
	// first, so a backup with it is complete.
	SecretName = "capz-migration-backup"
	partsKey   = "parts"
	prefixKey  = "prefix"
	dataKey    = "backup.json.gz"
	// otherPrefix is the beginning of the names of parts that replace those whose names begin with SecretName, and reversely. The backup
	// before stays complete until the index names the new parts.
	otherPrefix = SecretName + "-b"
	// partSize keeps a Secret below the limit of 1 MiB.
	partSize = 900 << 10
	// partLabel is the label of the parts, by which they are found without the number.
	partLabel = "infrastructure.cluster.x-k8s.io/migration-backup-part"
	// maxContent is the largest size of a backup before its compression, and maxParts that of one that gzip cannot compress.
	maxContent = 64 << 20
	maxParts   = maxContent/partSize + 2
)

// Store stores a backup in place of the one before. It may be repeated after an interruption.
func (b *Backup) Store(ctx context.Context, c client.Client) error {
	stored, err := readIndex(ctx, c)
	if err != nil {
		return err
	}
	prefix := SecretName
	if stored.prefix == prefix {
		prefix = otherPrefix
	}
	content, err := json.Marshal(b)
	if err != nil {
		return err
	}
	if len(content) > maxContent {
		return fmt.Errorf("the backup has %d bytes. The limit is %d. Move by hand as described in the book", len(content), maxContent)
	}
	packed := &bytes.Buffer{}
	writer := gzip.NewWriter(packed)
	_, err = writer.Write(content)
	if err := errors.Join(err, writer.Close()); err != nil {
		return err
	}
	parts := 0
	for part := range slices.Chunk(packed.Bytes(), partSize) {
		if err := storeSecret(ctx, c, partName(prefix, parts), map[string][]byte{dataKey: part}); err != nil {
			return err
		}
		parts++
	}
	return storeSecret(ctx, c, SecretName, map[string][]byte{partsKey: []byte(strconv.Itoa(parts)), prefixKey: []byte(prefix)})
}

func partName(prefix string, i int) string { return fmt.Sprintf("%s-%d", prefix, i) }

func storeSecret(ctx context.Context, c client.Client, name string, data map[string][]byte) error {
	secret := &corev1.Secret{ObjectMeta: metav1.ObjectMeta{Namespace: migration.Namespace, Name: name}, Data: data}
	if name != SecretName {
		secret.Labels = map[string]string{partLabel: ""}
	}
	err := c.Create(ctx, secret)
	if apierrors.IsAlreadyExists(err) {
		err = c.Update(ctx, secret)
	}
	if err != nil {
		return fmt.Errorf("store Secret %s/%s: %w", migration.Namespace, name, err)
	}
	return nil
}

// Load returns the stored backup, nil if there is no complete one.
func Load(ctx context.Context, c client.Reader) (*Backup, error) {
	stored, err := readIndex(ctx, c)
	if err != nil || stored.parts == 0 {
		return nil, err
	}
	var packed []byte
	for i := range stored.parts {
		secret := &corev1.Secret{}
		if err := c.Get(ctx, client.ObjectKey{Namespace: migration.Namespace, Name: partName(stored.prefix, i)}, secret); err != nil {
			return nil, fmt.Errorf("get a part of the backup: %w", err)
		}
		packed = append(packed, secret.Data[dataKey]...)
	}
	reader, err := gzip.NewReader(bytes.NewReader(packed))
	if err != nil {
		return nil, fmt.Errorf("read the backup: %w", err)
	}
	out := &Backup{}
	if err := json.NewDecoder(io.LimitReader(reader, maxContent)).Decode(out); err != nil {
		return nil, fmt.Errorf("read the backup: %w", err)
	}
	return out, nil
}

// index is the content of the Secret that is written last.
type index struct {
	// parts is 0 if there is no complete backup.
	parts  int
	prefix string
}

func readIndex(ctx context.Context, c client.Reader) (index, error) {
	secret := &corev1.Secret{}
	err := c.Get(ctx, client.ObjectKey{Namespace: migration.Namespace, Name: SecretName}, secret)
	if apierrors.IsNotFound(err) {
		return index{}, nil
	}
	if err != nil {
		return index{}, fmt.Errorf("get the backup: %w", err)
	}
	parts, err := strconv.Atoi(string(secret.Data[partsKey]))
	if err != nil || parts < 1 || parts > maxParts {
		return index{}, fmt.Errorf("the Secret %s/%s has no number of parts", migration.Namespace, SecretName)
	}
	// The first versions of the command stored no prefix.
	return index{parts: parts, prefix: cmp.Or(string(secret.Data[prefixKey]), SecretName)}, nil
}

// Delete deletes the stored backup. It may be repeated after an interruption.
func Delete(ctx context.Context, c client.Client) error {
	last := &corev1.Secret{}
	err := c.Get(ctx, client.ObjectKey{Namespace: migration.Namespace, Name: SecretName}, last)
	if err == nil {
		err = c.Delete(ctx, last)
	}
	if client.IgnoreNotFound(err) != nil {
		return fmt.Errorf("delete Secret %s/%s: %w", migration.Namespace, SecretName, err)
	}
	parts := &metav1.PartialObjectMetadataList{}
	parts.SetGroupVersionKind(corev1.SchemeGroupVersion.WithKind("SecretList"))
	if err := c.List(ctx, parts, client.InNamespace(migration.Namespace), client.HasLabels{partLabel}); err != nil {
		return fmt.Errorf("list the parts of the backup: %w", err)
	}
	for _, part := range parts.Items {
		secret := &corev1.Secret{ObjectMeta: metav1.ObjectMeta{Namespace: part.Namespace, Name: part.Name}}
		if err := client.IgnoreNotFound(c.Delete(ctx, secret)); err != nil {
			return fmt.Errorf("delete Secret %s/%s: %w", part.Namespace, part.Name, err)
		}
	}
	return nil
}
