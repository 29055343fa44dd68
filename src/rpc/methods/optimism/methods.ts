import { type BlockParam, blockNumberOrTag, describeBlock } from '../../codecs/blockId.ts'
import { blockNumber, text } from '../../codecs/values.ts'
import type { RollupContext } from '../../context.ts'
import { internalError, RpcError } from '../../errors.ts'
import type { RollupNode } from '../../ports.ts'
import { object, refTo } from '../../reference/schemas.ts'
import { type Method, type ParamCodec, param, type ResultCodec } from '../../registry.ts'
import { blockIdResult } from '../../results/refs.ts'
import { type OutputAnswer, outputResult, rollupConfigResult, syncStatusResult } from '../../results/rollup.ts'
import { rollupMethod } from '../define.ts'

const version = rollupMethod({
  name: 'optimism_version',
  doc: 'Version of this node.',
  params: [],
  result: text,
  cost: 'instant',
  example: { params: [], result: 'v0.1.0' },
  run: (context) => context.version,
})

const syncStatus = rollupMethod({
  name: 'optimism_syncStatus',
  doc: 'L1 block that derivation has read, and the L1 and L2 heads.',
  params: [],
  result: syncStatusResult,
  cost: 'instant',
  example: { params: [] },
  run: (context) => context.rollup.status(),
})

const rollupConfig = rollupMethod({
  name: 'optimism_rollupConfig',
  doc: 'Rollup configuration of this chain.',
  params: [],
  result: rollupConfigResult,
  cost: 'instant',
  example: { params: [] },
  run: (context) => context.rollup.config,
})

function labelOf(at: BlockParam): Parameters<RollupNode['output']>[0] {
  if (at.kind === 'number') return at.number
  if (at.kind !== 'tag' || at.tag === 'pending' || at.tag === 'latest') return 'latest'
  return at.tag === 'earliest' ? 0 : at.tag
}

const outputAtBlock = rollupMethod({
  name: 'optimism_outputAtBlock',
  doc: 'Output root of a canonical L2 block, which a proposer posts to L1.',
  params: [param('block', blockNumberOrTag)],
  result: outputResult,
  cost: 'point-read',
  example: { params: ['0x0'] },
  async run(context, at): Promise<OutputAnswer> {
    const output = await context.rollup.output(labelOf(at))
    if (output === undefined) throw internalError(`block not found: ${describeBlock(at)}`)
    // the extension is in optimism_syncStatus only: proposers compare this answer between clients
    return { output, status: { ...context.rollup.status(), trust: undefined } }
  },
})

const l1BlockNumber: ParamCodec<number> = { doc: 'L1 block number', schema: refTo('Quantity'), parse: blockNumber }

type SafeHead = NonNullable<ReturnType<RollupNode['safeHeadAtL1']>>
const safeHeadResult: ResultCodec<SafeHead> = {
  doc: 'the last L1 block, at or before the given block, that moved the safe head; and the safe L2 block after it',
  schema: object('safe head', { l1Block: refTo('BlockRef'), safeHead: refTo('BlockRef') }),
  encode: ({ l1, safe }) => ({ l1Block: blockIdResult(l1), safeHead: blockIdResult(safe) }),
}

const safeHeadAtL1Block = rollupMethod({
  name: 'optimism_safeHeadAtL1Block',
  doc: 'Safe L2 head after an L1 block.',
  params: [param('number', l1BlockNumber)],
  result: safeHeadResult,
  cost: 'point-read',
  example: {
    params: ['0x21'],
    result: { l1Block: { hash: `0x${'22'.repeat(32)}`, number: 31 }, safeHead: { hash: `0x${'33'.repeat(32)}`, number: 53 } },
  },
  run(context, number): SafeHead {
    const found = context.rollup.safeHeadAtL1(number)
    if (found === undefined) throw new RpcError(-32001, 'safe head not found')
    return found
  },
})

/** `optimism_*`: the state of derivation and the rollup config. */
export const optimismMethods: readonly Method<RollupContext>[] = [syncStatus, outputAtBlock, rollupConfig, safeHeadAtL1Block, version]
