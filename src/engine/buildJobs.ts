import { createHash } from 'node:crypto'
import type { Clock } from '#lib/clock'
import type { Hex } from '#lib/hex'
import type { Hash } from '#types/ids'
import type { PayloadAttributes } from '#types/payload'
import { BoundedMap } from './boundedMap.ts'
import { encodeAttributes } from './payloadJson.ts'
import type { BuildResult } from './port.ts'
import type { ForkchoiceVersion } from './versions.ts'

/** One payload under way or built. */
export type BuildJob = {
  readonly attributes: PayloadAttributes
  /** When the transactions of the attributes are executed, or it is known that they cannot be. Never rejects. */
  readonly begun: Promise<void>
  readonly result: Promise<BuildResult>
  /** It takes no more transactions of the pool. */
  seal(): void
}

/** Builds until the signal is aborted. */
export type BeginBuild = (seal: AbortSignal, onSound: () => void) => Promise<BuildResult>

/** So many payloads take transactions at a time: consensus halves wait for one. */
const maxOpenJobs = 4
/** So long does a payload take transactions at most: nobody waits for it any more. */
const maxOpenMs = 20_000

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
  readonly #clock: Clock
  /** jobs without a result, the oldest first */
  readonly #open = new Set<BuildJob>()

  constructor(maxJobs: number, clock: Clock) {
    this.#jobs = new BoundedMap(maxJobs)
    this.#clock = clock
  }

  get(id: Hex): BuildJob | undefined {
    return this.#jobs.get(id)
  }

  /** The job of this id; started unless there is one. It is sealed when it was open for long, or others have begun since. */
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
