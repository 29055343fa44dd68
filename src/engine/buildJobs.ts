import { createHash } from 'node:crypto'
import type { Hex } from '#lib/hex'
import type { Hash } from '#types/ids'
import type { PayloadAttributes } from '#types/payload'
import { BoundedMap } from './boundedMap.ts'
import { encodeAttributes } from './payloadJson.ts'
import type { BuildResult } from './port.ts'
import type { ForkchoiceVersion } from './versions.ts'

/** One payload under way or built. */
export type BuildJob = { readonly attributes: PayloadAttributes; readonly result: Promise<BuildResult> }

/** 8 bytes; the same parent and attributes give the same. Opaque to others, but for the version in its first byte. */
export function payloadIdOf(version: ForkchoiceVersion, parent: Hash, attributes: PayloadAttributes): Hex {
  const digest = createHash('sha256')
    .update(JSON.stringify([parent, encodeAttributes(attributes)]))
    .digest('hex')
  return `0x0${version}${digest.slice(2, 16)}`
}

/** Payloads by id, the newest ones. A job that ends without a payload is forgotten. */
export class BuildJobs {
  readonly #jobs: BoundedMap<Hex, BuildJob>

  constructor(maxJobs: number) {
    this.#jobs = new BoundedMap(maxJobs)
  }

  get(id: Hex): BuildJob | undefined {
    return this.#jobs.get(id)
  }

  /** The job of this id; started unless there is one. */
  start(id: Hex, attributes: PayloadAttributes, build: () => Promise<BuildResult>): BuildJob {
    const existing = this.#jobs.get(id)
    if (existing) return existing
    const job = { attributes, result: build() }
    this.#jobs.set(id, job)
    const forget = (): void => {
      if (this.#jobs.get(id) === job) this.#jobs.delete(id)
    }
    job.result.then((result) => {
      if (result.kind === 'invalid') forget()
    }, forget)
    return job
  }
}
