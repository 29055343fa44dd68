import { unsafeSignerUpdate } from '#chainspec/configUpdate'
import type { L1Source } from '#consensus/ports'
import type { L1Block } from '#derive/ports'
import type { Clock } from '#lib/clock'
import type { Endpoint } from '#lib/endpoint'
import { fromHexFixed, toQuantity } from '#lib/hex'
import type { Log } from '#lib/log'
import { type Address, addressFromBytes, zeroAddress } from '#types/ids'
import type { Rpc } from './rpc.ts'

export type UnsafeSignerWatchDeps = {
  /** JSON-RPC client with a limit of `maxWordBytes` */
  readonly rpc: Rpc
  readonly endpoints: readonly Endpoint[]
  readonly head: L1Source['head']
  readonly clock: Clock
  readonly log: Log
}

export type UnsafeSignerWatchOptions = {
  /** SystemConfig of the chain */
  readonly contract: Address
  /** called with each signer that differs from the one before */
  readonly onSigner: (signer: Address) => void
}

/** Limit of a response with one word. */
export const maxWordBytes = 1_024
/** keccak("systemconfig.unsafeblocksigner") */
const slot = '0x65a7ed542fb37fe237fdfbdd70b31598523fe5b32879e307bae27a0bd9581c08'
const [everyMs, againMs] = [3_600_000, 60_000]

/** Watch of the unsafe block signer. Disposing ends it. */
export interface UnsafeSignerWatch extends Disposable {
  /** Resolves after the first round of requests, whatever its result. */
  readonly first: Promise<void>
  /** Notes an L1 block that derivation has read, with verified receipts. */
  onBlock(block: L1Block): void
}

/**
 * Reads the unsafe block signer of the SystemConfig contract: from its storage at the finalized block, at the start and once an hour, and from its
 * update events in the L1 blocks that derivation reads. The storage is not proven: more than half of the endpoints that answer must agree. A reading
 * that is older than the last event does not count, nor does an event up to the block of the last reading: derivation may be far behind it.
 * @see specs protocol/system-config.md, "unsafeBlockSigner"
 */
export function watchUnsafeSigner(deps: UnsafeSignerWatchDeps, { contract, onSigner }: UnsafeSignerWatchOptions): UnsafeSignerWatch {
  const { rpc, endpoints, head, clock, log } = deps
  const stop = new AbortController()
  let last: Address | undefined
  /** number of the L1 block of the last event, and of the last reading that counted */
  let [eventAt, readAt] = [-1, -1]
  let timer: Disposable | undefined

  const set = (signer: Address): void => {
    if (signer === last || stop.signal.aborted) return
    last = signer
    onSigner(signer)
  }

  async function read(endpoint: Endpoint, number: number): Promise<Address | undefined> {
    try {
      const request = { method: 'eth_getStorageAt' as const, params: [contract, slot, toQuantity(number)] }
      const [word] = await rpc.call(endpoint, [request], stop.signal)
      const signer = addressFromBytes(fromHexFixed(String(word), 32).subarray(12))
      return signer === zeroAddress ? undefined : signer
    } catch (error) {
      if (!stop.signal.aborted) log.debug('unsafe block signer of L1 endpoint not available', { endpoint: endpoint.name, error })
      return undefined
    }
  }

  /** @returns whether the endpoints agree on a signer */
  async function round(): Promise<boolean> {
    const finalized = await head('finalized', stop.signal).catch(() => undefined)
    if (finalized === undefined) return false
    const found = (await Promise.all(endpoints.map((endpoint) => read(endpoint, finalized.number)))).filter(
      (signer) => signer !== undefined,
    )
    const agreed = found.find((signer) => 2 * found.filter((other) => other === signer).length > found.length)
    if (agreed === undefined && found.length > 0) log.warn('L1 endpoints return different unsafe block signers, the last known one stays')
    if (agreed !== undefined && finalized.number >= eventAt) {
      readAt = finalized.number
      set(agreed)
    }
    return agreed !== undefined
  }

  async function run(): Promise<void> {
    const isKnown = await round()
    if (!stop.signal.aborted) timer = clock.after(isKnown ? everyMs : againMs, () => void run())
  }

  return {
    first: run(),
    onBlock({ ref, receipts }): void {
      const signer = unsafeSignerUpdate(contract, receipts)
      if (signer === undefined || ref.number < eventAt || ref.number <= readAt) return
      eventAt = ref.number
      set(signer)
    },
    [Symbol.dispose](): void {
      stop.abort()
      timer?.[Symbol.dispose]()
    },
  }
}
