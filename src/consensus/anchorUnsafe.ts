import { l2RefOf } from '#chainspec/l2Ref'
import type { RollupConfig } from '#chainspec/rollupConfig'
import { isCanonical } from '#engine/canonical'
import type { Engine } from '#engine/port'
import type { L2Ref } from '#types/blockRef'
import { consensusFault } from './faults.ts'
import type { L1Source } from './ports.ts'

export type AnchorDeps = {
  readonly config: RollupConfig
  readonly engine: Pick<Engine, 'payload'>
  readonly l1: Pick<L1Source, 'ref'>
}

/** State of a block's L1 origin: canonical, replaced, or `unknown` because L1's head is below it. */
type Verdict = 'canonical' | 'replaced' | 'unknown'

async function judge({ l1 }: AnchorDeps, { l1Origin }: L2Ref, signal: AbortSignal): Promise<Verdict> {
  const found = await l1.ref(l1Origin.number, signal)
  if (found === undefined) return 'unknown'
  return found.hash === l1Origin.hash ? 'canonical' : 'replaced'
}

/**
 * Returns the canonical block at a number.
 * @throws Fault HEAD_LOST (reset) when it is missing, because the engine's head has changed and a retry cannot help
 */
async function refAt({ config, engine }: AnchorDeps, number: number, head: L2Ref): Promise<L2Ref> {
  const payload = await engine.payload(number)
  if (payload === undefined) throw consensusFault('HEAD_LOST', head)
  return l2RefOf(config, payload)
}

/**
 * Returns the block up to which an unsafe chain is kept: its last block whose L1 origin is canonical. The whole chain is kept when L1 contradicts
 * none of its origins; origins above the L1 head may still become canonical. Returns `safe` when the chain does not contain it. Origins form one
 * chain too, so a binary search finds the block.
 * Cost: one L1 header when all origins are canonical, else O(log n) payloads and headers.
 * @throws Fault HEAD_LOST (reset) when the execution half lacks a block below the unsafe head, those of L1 and of the engine
 */
export async function anchorUnsafe(deps: AnchorDeps, safe: L2Ref, unsafe: L2Ref, signal: AbortSignal): Promise<L2Ref> {
  if (unsafe.number <= safe.number) return safe
  if (!(await isCanonical(deps.engine, safe))) return safe
  if ((await judge(deps, unsafe, signal)) === 'canonical') return unsafe
  let below = safe
  let above = unsafe
  while (above.number - below.number > 1) {
    const middle = await refAt(deps, (above.number + below.number) >>> 1, unsafe)
    if ((await judge(deps, middle, signal)) === 'canonical') below = middle
    else above = middle
  }
  return (await judge(deps, above, signal)) === 'replaced' ? below : unsafe
}
