import { toQuantity } from '#lib/hex'
import type { Hash } from '#types/ids'
import { hash } from '../../codecs/values.ts'
import type { EthContext } from '../../context.ts'
import { RpcError } from '../../errors.ts'
import type { Json } from '../../json.ts'
import { param, type ResultCodec } from '../../registry.ts'
import type { SequencerLink, SequencerStatus } from '../../submitPorts.ts'
import { ethMethod } from '../define.ts'
import { isUnsealed } from '../eth/atBlock.ts'

type Detail = { readonly [key: string]: Json }

/** Inclusion of a transaction in the canonical chain or in a pending block; undefined: in neither. */
function included({ chain }: EthContext, of: Hash): Detail | undefined {
  using view = chain.view()
  const block = view.transaction(of)?.block
  if (block === undefined) return undefined
  const blockNumber = toQuantity(block.number)
  return isUnsealed(view, block.hash) ? { state: 'preconfirmed', blockNumber } : { state: 'included', blockHash: block.hash, blockNumber }
}

/**
 * Everything that this node knows of a transaction. `state` is `included` or `preconfirmed`, else its state on the way to the sequencer, else its
 * state in the pool, else `unknown`.
 */
export async function transactionDetail(context: EthContext, of: Hash): Promise<Detail> {
  const { pool, sequencer } = context
  const [pooled, forwarded] = await Promise.all([pool?.get(of), sequencer?.forwarded(of)])
  const place = included(context, of)
  if (place !== undefined) return place
  const waits = pooled && { pool: pooled.isPending ? 'pending' : 'queued' }
  if (forwarded === undefined) return { state: waits?.pool ?? 'unknown' }
  const { state, tries, ageMs, error } = forwarded
  // its block left the canonical chain: the sequencer still has the transaction
  return { state: state === 'included' ? 'taken' : state, tries, ageMs, ...(error && { error }), ...waits }
}

type Status = { readonly status: string; readonly detail: Detail }

const isHeld = (state: Json): boolean => state === 'preconfirmed' || state === 'pending' || state === 'queued' || state === 'taken'

async function askedOf(sequencer: SequencerLink, context: EthContext, of: Hash): Promise<Status> {
  const [asked, detail]: [SequencerStatus, Detail] = await Promise.all([sequencer.status(of), transactionDetail(context, of)])
  if (asked.kind === 'status') return { status: asked.status, detail }
  const { state } = detail
  if (state === 'unknown') throw new RpcError(-32603, `failed to fetch transaction status: ${asked.reason}`)
  return { status: isHeld(state) ? 'Known' : 'Unknown', detail }
}

async function statusOf(context: EthContext, of: Hash): Promise<Status> {
  if (context.sequencer) return await askedOf(context.sequencer, context, of)
  const detail = await transactionDetail(context, of)
  return { status: isHeld(detail['state']) ? 'Known' : 'Unknown', detail }
}

const statusResult: ResultCodec<Status> = {
  doc: '{status, detail}: `Known` or `Unknown`, and what this node knows of the transaction; detail.state is included, preconfirmed, pending, queued, sending, taken, refused, limited, unanswered or unknown',
  schema: {
    type: 'object',
    required: ['status'],
    properties: { status: { enum: ['Known', 'Unknown'] }, detail: { type: 'object' } },
  },
  encode: ({ status, detail }) => ({ status, detail }),
}

export const transactionStatus = ethMethod({
  name: 'base_transactionStatus',
  doc: 'Whether the pool has a transaction. With a sequencer set, requests the status from it. A transaction in a block has status `Unknown`; `detail` then has its inclusion.',
  params: [param('hash', hash)],
  result: statusResult,
  cost: 'submit',
  example: { params: [`0x${'11'.repeat(32)}`], result: { status: 'Unknown', detail: { state: 'unknown' } } },
  run: statusOf,
})
