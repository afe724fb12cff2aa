package main

import (
	"archive/tar"
	"bytes"
	"context"
	"fmt"
	"io"
	"os"
	"strings"
	"time"

	"github.com/google/go-containerregistry/pkg/name"
	v1 "github.com/google/go-containerregistry/pkg/v1"
	"github.com/google/go-containerregistry/pkg/v1/empty"
	"github.com/google/go-containerregistry/pkg/v1/mutate"
	"github.com/google/go-containerregistry/pkg/v1/tarball"
	"github.com/google/go-containerregistry/pkg/v1/types"
	ko "github.com/google/ko/pkg/build"
)

const (
	program = "github.com/floodmark/floodmark/cmd/floodmark"
	// user is a number that no user on the host has, so that Kubernetes can see that it is not
	// root.
	user = "65532"
	// authorities is where Debian keeps the certificates of public authorities.
	authorities = "/etc/ssl/certs/ca-certificates.crt"
)

// build makes the image for every platform. Ko compiles the program. The base image is made here,
// so that nothing is downloaded.
func build(ctx context.Context, repository, version string, at time.Time, platforms []string) (v1.ImageIndex, error) {
	base, err := baseIndex(at, platforms)
	if err != nil {
		return nil, fmt.Errorf("make what lies beneath: %w", err)
	}
	beneath, err := name.ParseReference("floodmark.invalid/beneath") // a name that cannot be downloaded
	if err != nil {
		return nil, err
	}
	g, err := ko.NewGo(ctx, repository,
		ko.WithBaseImages(func(context.Context, string) (name.Reference, ko.Result, error) { return beneath, base, nil }),
		ko.WithPlatforms(platforms...),
		ko.WithTrimpath(true),
		ko.WithCreationTime(v1.Time{Time: at}),
		ko.WithKoDataCreationTime(v1.Time{Time: at}),
		ko.WithDisabledSBOM(),
		ko.WithConfig(map[string]ko.Config{program: {
			ID: "floodmark", Env: []string{"CGO_ENABLED=0"}, Flags: []string{"-mod=readonly", "-buildvcs=false"},
			Ldflags: []string{"-s", "-w", "-X", "main.version=" + version},
		}}),
	)
	if err != nil {
		return nil, err
	}
	built, err := g.Build(ctx, "ko://"+program)
	if err != nil {
		return nil, fmt.Errorf("build the program: %w", err)
	}
	var images []v1.Image
	switch b := built.(type) {
	case v1.Image:
		images = []v1.Image{b}
	case v1.ImageIndex:
		if images, err = partial(b); err != nil {
			return nil, err
		}
	}
	return finish(images, at)
}

// partial returns the images of an index.
func partial(index v1.ImageIndex) ([]v1.Image, error) {
	m, err := index.IndexManifest()
	if err != nil {
		return nil, err
	}
	var list []v1.Image
	for _, d := range m.Manifests {
		image, err := index.Image(d.Digest)
		if err != nil {
			return nil, err
		}
		list = append(list, image)
	}
	return list, nil
}

// finish sets the command of the images, which ko leaves open.
func finish(images []v1.Image, at time.Time) (v1.ImageIndex, error) {
	index := mutate.IndexMediaType(empty.Index, types.OCIImageIndex)
	for _, image := range images {
		c, err := image.ConfigFile()
		if err != nil {
			return nil, err
		}
		c = c.DeepCopy()
		c.Created, c.Config.Cmd = v1.Time{Time: at}, []string{"serve", "--dir", "/data"}
		if image, err = mutate.ConfigFile(image, c); err != nil {
			return nil, err
		}
		index = mutate.AppendManifests(index, mutate.IndexAddendum{Add: image, Descriptor: v1.Descriptor{Platform: c.Platform()}})
	}
	return index, nil
}

// baseIndex returns the image without the program.
func baseIndex(at time.Time, platforms []string) (v1.ImageIndex, error) {
	files, err := baseFiles(at)
	if err != nil {
		return nil, err
	}
	layer, err := tarball.LayerFromOpener(reread(files), tarball.WithMediaType(types.OCILayer))
	if err != nil {
		return nil, err
	}
	index := mutate.IndexMediaType(empty.Index, types.OCIImageIndex)
	for _, p := range platforms {
		system, machine, _ := strings.Cut(p, "/")
		image, err := mutate.AppendLayers(mutate.MediaType(mutate.ConfigMediaType(empty.Image, types.OCIConfigJSON), types.OCIManifestSchema1), layer)
		if err != nil {
			return nil, err
		}
		image, err = mutate.ConfigFile(image, &v1.ConfigFile{
			OS: system, Architecture: machine, Created: v1.Time{Time: at},
			RootFS: rootFS(image),
			Config: v1.Config{
				User: user + ":" + user, WorkingDir: "/data",
				Env: []string{"SSL_CERT_FILE=" + authorities},
				Labels: map[string]string{
					"org.opencontainers.image.title":    "floodmark",
					"org.opencontainers.image.licenses": "Apache-2.0",
					"org.opencontainers.image.source":   "https://github.com/floodmark/floodmark",
				},
			},
		})
		if err != nil {
			return nil, err
		}
		index = mutate.AppendManifests(index, mutate.IndexAddendum{
			Add: image, Descriptor: v1.Descriptor{Platform: &v1.Platform{OS: system, Architecture: machine}},
		})
	}
	return index, nil
}

func rootFS(image v1.Image) v1.RootFS {
	c, err := image.ConfigFile()
	if err != nil {
		return v1.RootFS{Type: "layers"}
	}
	return c.RootFS
}

// baseFiles returns an archive with a few files that every program expects, and the folder for our
// data.
func baseFiles(at time.Time) ([]byte, error) {
	certificates, err := os.ReadFile(authorities)
	if err != nil {
		return nil, fmt.Errorf("%w (install the package ca-certificates)", err)
	}
	var b bytes.Buffer
	w := tar.NewWriter(&b)
	for _, f := range []struct {
		name string
		text []byte
		mode int64
		own  int
	}{
		{"data/", nil, 0o700, 65532},
		{"etc/", nil, 0o755, 0},
		{"etc/group", []byte("root:x:0:\nfloodmark:x:" + user + ":\n"), 0o644, 0},
		{"etc/passwd", []byte("root:x:0:0:root:/:/nologin\nfloodmark:x:" + user + ":" + user + ":floodmark:/data:/nologin\n"), 0o644, 0},
		{"etc/ssl/", nil, 0o755, 0},
		{"etc/ssl/certs/", nil, 0o755, 0},
		{strings.TrimPrefix(authorities, "/"), certificates, 0o644, 0},
		{"tmp/", nil, 0o1777, 0},
	} {
		h := &tar.Header{Name: f.name, Mode: f.mode, Size: int64(len(f.text)), ModTime: at, Uid: f.own, Gid: f.own, Typeflag: tar.TypeReg}
		if strings.HasSuffix(f.name, "/") {
			h.Typeflag = tar.TypeDir
		}
		if err := w.WriteHeader(h); err != nil {
			return nil, err
		}
		if _, err := w.Write(f.text); err != nil {
			return nil, err
		}
	}
	if err := w.Close(); err != nil {
		return nil, err
	}
	return b.Bytes(), nil
}

// reread returns a function that opens the same bytes each time.
func reread(data []byte) tarball.Opener {
	return func() (io.ReadCloser, error) { return io.NopCloser(bytes.NewReader(data)), nil }
}
