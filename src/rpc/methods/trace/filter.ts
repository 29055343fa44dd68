import type { BlockId } from '#types/blockRef'
import { type BlockParam, blockNumberOrTag, latest } from '../../codecs/blockId.ts'
import { member, objectOf } from '../../codecs/members.ts'
import { ParamError } from '../../codecs/paramError.ts'
import { address, listOf, position, text } from '../../codecs/values.ts'
import type { EthContext } from '../../context.ts'
import { invalidParams } from '../../errors.ts'
import { type ParamCodec, param } from '../../registry.ts'
import { textItems } from '../debug/tracing.ts'
import { ethMethod } from '../define.ts'
import { findBlock, onSteadyChain, requireBlock, sealed } from '../eth/atBlock.ts'
import { callsOfBlock } from './blocks.ts'
import { type JsonCall, memberOf } from './parityResult.ts'

/** Limits of Base's execution client. */
const maxBlocks = 100
const maxAddresses = 1_000

type TraceFilter = {
  readonly from: BlockParam
  readonly to: BlockParam
  readonly senders: ReadonlySet<string>
  readonly receivers: ReadonlySet<string>
  /** whether a call must fit both lists */
  readonly mode: 'union' | 'intersection'
  /** number of matching calls to skip */
  readonly after: number
  readonly count: number
}

const addresses = listOf(address, maxAddresses)

const traceFilter: ParamCodec<TraceFilter> = {
  doc: '{fromBlock, toBlock, fromAddress: [], toAddress: [], mode: union or intersection, after, count}',
  schema: { type: 'object' },
  parse(given): TraceFilter {
    const value = objectOf(given, 'a trace filter')
    const mode = member(value, 'mode', text) ?? 'union'
    if (mode !== 'union' && mode !== 'intersection') throw new ParamError(`unknown mode \`${mode}\`, expected union or intersection`)
    return {
      from: member(value, 'fromBlock', blockNumberOrTag) ?? { kind: 'tag', tag: 'earliest' },
      to: member(value, 'toBlock', blockNumberOrTag) ?? latest,
      senders: new Set(member(value, 'fromAddress', addresses)),
      receivers: new Set(member(value, 'toAddress', addresses)),
      mode,
      after: member(value, 'after', position) ?? 0,
      count: member(value, 'count', position) ?? Number.POSITIVE_INFINITY,
    }
  },
}

/** Receiver of a call: of a creation the contract, of a self-destruct the beneficiary. */
const receiverOf = (call: JsonCall): string | undefined =>
  memberOf(call, 'action', 'to') ?? memberOf(call, 'result', 'address') ?? memberOf(call, 'action', 'refundAddress')
const senderOf = (call: JsonCall): string | undefined => memberOf(call, 'action', 'from') ?? memberOf(call, 'action', 'address')

function matches(filter: TraceFilter, call: JsonCall): boolean {
  const { senders, receivers, mode } = filter
  if (senders.size === 0 && receivers.size === 0) return true
  const isFrom = senders.has(senderOf(call) ?? '')
  const isTo = receivers.has(receiverOf(call) ?? '')
  if (mode === 'union') return isFrom || isTo
  return (senders.size === 0 || isFrom) && (receivers.size === 0 || isTo)
}

/** @throws RpcError when the range is reversed, too large, or beyond the head */
function rangeOf(context: EthContext, { from, to }: TraceFilter): { readonly first: number; readonly last: BlockId } {
  using view = context.chain.view()
  const [{ number: first }, last] = [requireBlock(context, view, sealed(from)), requireBlock(context, view, sealed(to))]
  if (first > last.number) throw invalidParams('invalid parameters: fromBlock cannot be greater than toBlock')
  if (last.number - first >= maxBlocks) throw invalidParams(`Block range too large; currently limited to ${maxBlocks} blocks`)
  return { first, last }
}

/** Returns a block of the chain of `last`: undefined when it does not exist, 'reorg' when `last` is no longer canonical. */
function blockBelow(context: EthContext, last: BlockId, number: number): BlockId | undefined | 'reorg' {
  using view = context.chain.view()
  if (view.canonicalHash(last.number) !== last.hash) return 'reorg'
  return findBlock(context, view, { kind: 'number', number })
}

/** Searches the chain of one block; undefined when the chain reorganised in between. */
async function search(context: EthContext, filter: TraceFilter): Promise<readonly string[] | undefined> {
  const { first, last } = rangeOf(context, filter)
  const end = filter.after + filter.count
  const found: string[] = []
  let seen = 0
  let length = 0
  const keep = (call: JsonCall): boolean => matches(filter, call) && ++seen > filter.after && seen <= end
  for (let number = first; number <= last.number && seen < end; number++) {
    const block = blockBelow(context, last, number)
    if (block === 'reorg') return undefined
    if (block === undefined) break
    const texts = await callsOfBlock(context, block, keep, context.limits.traceBytes - length)
    length += texts.reduce((sum, each) => sum + each.length, 0)
    for (const text of texts) found.push(text)
  }
  return found
}

export const traceFilterMethod = ethMethod({
  name: 'trace_filter',
  doc: `Calls from or to the given accounts in a range of at most ${maxBlocks} blocks.`,
  params: [param('filter', traceFilter)],
  result: textItems('list of calls with their positions'),
  cost: 'trace',
  example: { params: [{ fromBlock: '0x0', toBlock: '0x0' }], result: [] },
  run: (context, filter) => onSteadyChain(() => search(context, filter)),
})
