import { createHash } from 'node:crypto'
import { readFileSync } from 'node:fs'
import { basename } from 'node:path'

export const sha256Of = (file: string): string => createHash('sha256').update(readFileSync(file)).digest('hex')

/** What a release was made from. */
export type Origin = {
  readonly version: string
  readonly commit: string
  /** whether the checkout had changes that no commit has */
  readonly isChanged: boolean
  /** base image with its digest, as in Dockerfile; absent: no image was made */
  readonly baseImage?: string
  readonly lockFile: string
  readonly startedAt: string
  readonly finishedAt: string
}

const digestOf = (reference: string): object => {
  const [name, sha256 = ''] = reference.split('@sha256:')
  return { uri: `docker://${name}`, digest: { sha256 } }
}

/**
 * Returns an unsigned statement about the files of a release.
 * @see in-toto statement v1, SLSA provenance v1
 */
export function provenance(files: readonly string[], origin: Origin): object {
  const { version, commit, isChanged, baseImage, lockFile, startedAt, finishedAt } = origin
  return {
    _type: 'https://in-toto.io/Statement/v1',
    subject: files.map((file) => ({ name: basename(file), digest: { sha256: sha256Of(file) } })),
    predicateType: 'https://slsa.dev/provenance/v1',
    predicate: {
      buildDefinition: {
        buildType: 'urn:basalt:npm-run-release:v1',
        externalParameters: { version },
        internalParameters: { isChanged },
        resolvedDependencies: [
          { uri: 'git+file:.', digest: { gitCommit: commit } },
          { uri: 'package-lock.json', digest: { sha256: sha256Of(lockFile) } },
          ...(baseImage === undefined ? [] : [digestOf(baseImage)]),
        ],
      },
      runDetails: { builder: { id: 'urn:basalt:scripts/release.ts' }, metadata: { startedOn: startedAt, finishedOn: finishedAt } },
    },
  }
}
