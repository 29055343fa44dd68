import { createHash } from 'node:crypto'
import { BoundedMap } from '#lib/boundedMap'
import type { Clock } from '#lib/clock'
import type { Hex } from '#lib/hex'
import type { Hash } from '#types/ids'
import type { PayloadAttributes } from '#types/payload'
import { encodeAttributes } from './payloadJson.ts'
import type { BuildResult } from './port.ts'
import type { ForkchoiceVersion } from './versions.ts'

/** Payload being built or complete. */
export type BuildJob = {
  readonly attributes: PayloadAttributes
  /** Resolves when the attributes' transactions are executed, or when that has failed. Never rejects. */
  readonly begun: Promise<void>
  readonly result: Promise<BuildResult>
  /** Stops adding transactions of the pool. */
  seal(): void
}

/** Builds until the signal is aborted. Calls `onForcedExecuted` when the attributes' transactions are executed. */
export type BeginBuild = (seal: AbortSignal, onForcedExecuted: () => void) => Promise<BuildResult>

/** Maximum number of open payloads; a consensus half waits for one. */
const maxOpenJobs = 4
/** Maximum time for which a payload stays open. No consensus half waits longer. */
const maxOpenMs = 20_000

/** Returns the id of a payload, 8 bytes: equal parent and attributes have equal ids. Callers treat it as opaque; its first byte is the version. */
export function payloadIdOf(version: ForkchoiceVersion, parent: Hash, attributes: PayloadAttributes): Hex {
  const digest = createHash('sha256')
    .update(JSON.stringify([parent, encodeAttributes(attributes)]))
    .digest('hex')
  return `0x0${version}${digest.slice(2, 16)}`
}

/** Newest payloads by id. A job that ends without a payload is dropped. */
export class BuildJobs {
  readonly #jobs: BoundedMap<Hex, BuildJob>
  readonly #clock: Clock
  /** jobs without a result, oldest first */
  readonly #open = new Set<BuildJob>()

  constructor(maxJobs: number, clock: Clock) {
    this.#jobs = new BoundedMap(maxJobs)
    this.#clock = clock
  }

  get(id: Hex): BuildJob | undefined {
    return this.#jobs.get(id)
  }

  /** Returns the job of this id, and starts it if there is none. A job is sealed after `maxOpenMs`, or when too many newer ones are open. */
  start(id: Hex, attributes: PayloadAttributes, build: BeginBuild): BuildJob {
    const existing = this.#jobs.get(id)
    if (existing) return existing
    const seal = new AbortController()
    const sound = Promise.withResolvers<void>()
    const result = build(seal.signal, () => sound.resolve())
    const job: BuildJob = { attributes, begun: sound.promise, result, seal: () => seal.abort() }
    this.#jobs.set(id, job)
    const timer = this.#clock.after(maxOpenMs, () => seal.abort())
    this.#open.add(job)
    const end = (isBuilt: boolean): void => {
      timer[Symbol.dispose]()
      this.#open.delete(job)
      if (!isBuilt && this.#jobs.get(id) === job) this.#jobs.delete(id)
      sound.resolve()
    }
    result.then(
      ({ kind }) => end(kind === 'built'),
      () => end(false),
    )
    for (const oldest of this.#open) {
      if (this.#open.size <= maxOpenJobs) break
      this.#open.delete(oldest)
      oldest.seal()
    }
    return job
  }
}
