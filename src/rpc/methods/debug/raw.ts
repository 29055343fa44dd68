import { encodeBlock } from '#types/block'
import type { ChainBlock } from '#types/chainView'
import { encodeHeader } from '#types/header'
import type { Hash } from '#types/ids'
import { encodeReceipt } from '#types/receipt'
import { type BlockParam, blockId, latest } from '../../codecs/blockId.ts'
import { ParamError } from '../../codecs/paramError.ts'
import { bytes, hash, orNull, resultList } from '../../codecs/values.ts'
import type { EthContext } from '../../context.ts'
import { prunedHistory } from '../../errors.ts'
import { type Method, optionalParam, type ParamCodec, param } from '../../registry.ts'
import { ethMethod } from '../define.ts'
import { prunedState, requireBlock } from '../eth/atBlock.ts'
import { transactionBytes } from '../eth/blocks/rawTransactions.ts'

const block = param('block', blockId)
const byteList = resultList(bytes)

/** Reads a block. @throws RpcError −32001 when it does not exist, 4444 when its body is pruned */
function blockAt(context: EthContext, at: BlockParam): ChainBlock['block'] {
  using view = context.chain.view()
  const found = view.block(requireBlock(context, view, at).hash)
  if (found === undefined) throw prunedHistory()
  return found.block
}

const getRawHeader = ethMethod({
  name: 'debug_getRawHeader',
  doc: 'RLP of the header of a block.',
  params: [block],
  result: bytes,
  cost: 'point-read',
  example: { params: ['latest'] },
  run(context, at): Uint8Array {
    using view = context.chain.view()
    const header = view.header(requireBlock(context, view, at).hash)
    if (header === undefined) throw prunedHistory()
    return encodeHeader(header)
  },
})

const getRawBlock = ethMethod({
  name: 'debug_getRawBlock',
  doc: 'RLP of a block.',
  params: [block],
  result: bytes,
  cost: 'block-read',
  example: { params: ['latest'] },
  run: (context, at) => encodeBlock(blockAt(context, at)),
})

const getRawTransactions = ethMethod({
  name: 'debug_getRawTransactions',
  doc: 'EIP-2718 bytes of the transactions of a block, in order.',
  params: [block],
  result: byteList,
  cost: 'block-read',
  example: { params: ['0x0'], result: [] },
  run: (context, at) => blockAt(context, at).transactions,
})

const getRawReceipts = ethMethod({
  name: 'debug_getRawReceipts',
  doc: 'EIP-2718 bytes of the receipts of a block, in order.',
  params: [block],
  result: byteList,
  cost: 'block-read',
  example: { params: ['0x0'], result: [] },
  run(context, at): readonly Uint8Array[] {
    using view = context.chain.view()
    const receipts = view.receipts(requireBlock(context, view, at).hash)
    if (receipts === undefined) throw prunedHistory()
    return receipts.map(({ receipt }) => encodeReceipt(receipt))
  },
})

/** Codec of a hash with mandatory 0x, as in go-ethereum; `hash` accepts it without. */
const prefixedHash: ParamCodec<Hash> = {
  doc: hash.doc,
  ...(hash.schema && { schema: hash.schema }),
  parse(value): Hash {
    if (typeof value === 'string' && !/^0x/i.test(value)) throw new ParamError('hex string without 0x prefix')
    return hash.parse(value)
  },
}

const getRawTransaction = ethMethod({
  name: 'debug_getRawTransaction',
  doc: 'EIP-2718 bytes of a transaction of the canonical chain or of the pool.',
  params: [param('hash', prefixedHash)],
  result: orNull(bytes),
  cost: 'point-read',
  example: { params: [`0x${'11'.repeat(32)}`], result: null },
  run: transactionBytes,
})

const codeByHash = ethMethod({
  name: 'debug_codeByHash',
  doc: 'Contract code by its keccak hash.',
  params: [param('hash', hash), optionalParam('block', blockId, latest, 'latest')],
  result: orNull(bytes),
  cost: 'point-read',
  example: { params: [`0x${'11'.repeat(32)}`], result: null },
  run(context, of, at): Uint8Array | undefined {
    using view = context.chain.view()
    const code = context.tracing.code(requireBlock(context, view, at), of)
    if (code === 'pruned') throw prunedState(view)
    return code
  },
})

export const rawMethods: readonly Method<EthContext>[] = [
  getRawHeader,
  getRawBlock,
  getRawTransaction,
  getRawTransactions,
  getRawReceipts,
  codeByHash,
]
