import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { expect, it } from 'vitest'
import { changelogSection } from '../../scripts/release/changelog.ts'
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
