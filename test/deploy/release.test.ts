import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { expect, it } from 'vitest'
import { changelogSection } from '../../scripts/release/changelog.ts'
import { type Image, makeImage, platforms, pushImages } from '../../scripts/release/image.ts'
import { provenance } from '../../scripts/release/provenance.ts'

const changelog = '# Changelog\n\nText.\n\n## Unreleased\n\n### Added\n- a\n\n## [0.2.0] - 2026-11-01\n- b\n\n## 0.1.0\n\n'

it('scripts/release: takes the section of one version from the changelog', () => {
  expect(changelogSection(changelog, 'Unreleased')).toBe('### Added\n- a')
  expect(changelogSection(changelog, '0.2.0')).toBe('- b')
  expect([changelogSection(changelog, '0.1.0'), changelogSection(changelog, '0.2'), changelogSection(changelog, '9.9.9')]).toEqual([
    undefined,
    undefined,
    undefined,
  ])
})

it('scripts/release: states the digests of the files, of the lock file and of the base image', () => {
  const folder = mkdtempSync(join(tmpdir(), 'basalt-release-'))
  try {
    const file = join(folder, 'a.tgz')
    writeFileSync(file, 'abc')
    const origin = { version: '0.2.0', commit: 'c0ffee', isChanged: false, startedAt: 's', finishedAt: 'f' }
    // SHA-256 of "abc": FIPS 180-4, example
    const sha256 = 'ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad'
    expect(provenance([file], { ...origin, lockFile: file, baseImage: 'node:24@sha256:00ff' })).toMatchObject({
      subject: [{ name: 'a.tgz', digest: { sha256 } }],
      predicate: {
        buildDefinition: {
          resolvedDependencies: [
            { digest: { gitCommit: 'c0ffee' } },
            { digest: { sha256 } },
            { uri: 'docker://node:24', digest: { sha256: '00ff' } },
          ],
        },
      },
    })
  } finally {
    rmSync(folder, { recursive: true })
  }
})

it('scripts/release: builds, starts and saves an image of each platform, and joins them under one name', async () => {
  const folder = mkdtempSync(join(tmpdir(), 'basalt-release-'))
  const { PATH } = process.env
  try {
    // a program that writes its arguments down; `run` prints the version
    const record = `#!/bin/sh\necho "$*" >> ${folder}/calls\ncase "$1" in run) echo basalt 0.2.0 ;; esac\n`
    writeFileSync(join(folder, 'docker'), record, { mode: 0o755 })
    process.env['PATH'] = `${folder}:${PATH}`
    const images = platforms.map((platform): Image => ({ name: 'example.org/basalt', tag: 'v0.2.0', platform }))
    for (const image of images) expect(await makeImage(image, folder)).toBe(join(folder, `basalt-image-v0.2.0-${image.platform}.tar.gz`))
    pushImages(images)
    const calls = readFileSync(join(folder, 'calls'), 'utf8').trim().split('\n')
    const built = platforms.flatMap((platform) => {
      const name = `example.org/basalt:v0.2.0-${platform}`
      return [
        'version',
        `build --platform linux/${platform} --tag ${name} .`,
        `run --rm --platform linux/${platform} ${name} version`,
        `save ${name}`,
      ]
    })
    const joined = 'example.org/basalt:v0.2.0-amd64 example.org/basalt:v0.2.0-arm64'
    const pushed = [
      ...joined.split(' ').map((name) => `push ${name}`),
      `buildx imagetools create --tag example.org/basalt:v0.2.0 ${joined}`,
    ]
    expect(calls).toEqual([...built, ...pushed])
    await expect(makeImage({ name: 'x', tag: 'v9.9.9', platform: 'arm64' }, folder)).rejects.toThrow('linux/arm64 prints basalt 0.2.0')
  } finally {
    process.env['PATH'] = PATH
    rmSync(folder, { recursive: true })
  }
})
