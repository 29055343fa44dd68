import { randomBytes } from 'node:crypto'

/** Rate of a client in compute units (`costClasses`). */
export type Rate = {
  /** refilled each second */
  readonly unitsPerSec: number
  /** capacity of the bucket */
  readonly burstUnits: number
}

/** Refusal of a call: the rate per second, the units left, and the time until enough units are available. */
export type RateRefusal = { readonly limit: number; readonly remaining: number; readonly retryAfterMs: number }

export interface Bucket {
  /** @returns undefined when the units were taken; otherwise none were */
  take(units: number): RateRefusal | undefined
}

const waysPerSet = 8
const headerBytes = 16

/** Memory for the buckets of all threads. @param clients remembered at once, a power of two */
export function createRateTable(clients = 65_536): SharedArrayBuffer {
  const table = new SharedArrayBuffer(headerBytes + clients * 12)
  randomBytes(8).copy(new Uint8Array(table)) // so that clients cannot choose colliding names
  return table
}

/** FNV-1a with a secret seed. */
function hash(name: string, seed: number): number {
  let mixed = seed
  for (let at = 0; at < name.length; at++) mixed = Math.imul(mixed ^ name.charCodeAt(at), 0x01000193)
  mixed ^= mixed >>> 15
  mixed = Math.imul(mixed, 0x2c1b3c6d)
  return mixed ^ (mixed >>> 13)
}

/**
 * Lock-free token buckets by name in memory shared by threads. A bucket is one number: the time (µs) at which it is full again. A full bucket
 * equals a new one, so its slot can be reused. When all slots that a name may use are taken, the fullest bucket is replaced. Two threads that
 * claim a slot at the same moment may lose one charge, never more.
 * @see GCRA, ITU-T I.371
 */
export class RateTable {
  readonly #tags: Int32Array
  readonly #fullAtUs: BigInt64Array
  readonly #seeds: Int32Array
  readonly #sets: number
  readonly #nowMs: () => number

  constructor(table: SharedArrayBuffer, nowMs: () => number) {
    const clients = (table.byteLength - headerBytes) / 12
    this.#seeds = new Int32Array(table, 0, 2)
    this.#fullAtUs = new BigInt64Array(table, headerBytes, clients)
    this.#tags = new Int32Array(table, headerBytes + clients * 8, clients)
    this.#sets = clients / waysPerSet
    this.#nowMs = nowMs
  }

  bucket(name: string, rate: Rate): Bucket {
    const first = ((hash(name, this.#seeds[0] ?? 0) >>> 0) % this.#sets) * waysPerSet
    const tag = hash(name, this.#seeds[1] ?? 0)
    return { take: (units): RateRefusal | undefined => this.#take(first, tag, units, rate) }
  }

  #take(first: number, tag: number, units: number, { unitsPerSec, burstUnits }: Rate): RateRefusal | undefined {
    const nowUs = BigInt(Math.round(this.#nowMs() * 1_000))
    const usPerUnit = 1_000_000 / unitsPerSec
    const burstUs = Math.ceil(burstUnits * usPerUnit)
    const costUs = Math.ceil(Math.min(units, burstUnits) * usPerUnit) // a cost above the capacity takes a full bucket
    const slot = this.#slotOf(first, tag, nowUs)
    for (;;) {
      const before = Atomics.load(this.#fullAtUs, slot)
      const aheadUs = Number(before - nowUs)
      const drawnUs = aheadUs > 0 && aheadUs <= burstUs ? aheadUs : 0 // more than the capacity: the wall clock was set back
      const afterUs = drawnUs + costUs
      if (afterUs > burstUs) {
        const remaining = Math.floor((burstUs - drawnUs) / usPerUnit)
        return { limit: unitsPerSec, remaining, retryAfterMs: Math.max(1, Math.ceil((afterUs - burstUs) / 1_000)) }
      }
      if (Atomics.compareExchange(this.#fullAtUs, slot, before, nowUs + BigInt(afterUs)) === before) return undefined
    }
  }

  #slotOf(first: number, tag: number, nowUs: bigint): number {
    let fullest = first
    for (let slot = first; slot < first + waysPerSet; slot++) {
      if (Atomics.load(this.#tags, slot) === tag) return slot
      if (Atomics.load(this.#fullAtUs, slot) < Atomics.load(this.#fullAtUs, fullest)) fullest = slot
    }
    Atomics.store(this.#tags, fullest, tag)
    Atomics.store(this.#fullAtUs, fullest, nowUs)
    return fullest
  }
}
