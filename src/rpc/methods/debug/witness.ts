import { parseAttributes } from '#engine/payloadJson'
import { type Fault, isFault } from '#lib/fault'
import { toHex } from '#lib/hex'
import type { PayloadAttributes } from '#types/payload'
import { type ByteList, ByteWriter } from '../../byteList.ts'
import { type BlockParam, blockId } from '../../codecs/blockId.ts'
import { hash } from '../../codecs/values.ts'
import type { EthContext } from '../../context.ts'
import { invalidInput, invalidParams, prunedHistory } from '../../errors.ts'
import { ParamError } from '../../paramError.ts'
import { type BytesCodec, type ParamCodec, param } from '../../registry.ts'
import type { ExecutionWitness, WitnessWork } from '../../tracePorts.ts'
import { ethMethod } from '../define.ts'
import { requireBlock, sealed } from '../eth/atBlock.ts'
import { inTurns } from './tracedResult.ts'

function writeList(writer: ByteWriter, name: string, parts: readonly Uint8Array[]): void {
  writer.ascii(`"${name}":[`)
  for (const [at, part] of parts.entries()) writer.ascii(at === 0 ? `"${toHex(part)}"` : `,"${toHex(part)}"`)
  writer.ascii(']')
}

const witnessResult: BytesCodec<ExecutionWitness> = {
  doc: '{state, codes, keys, headers}: RLP of trie nodes; codes; addresses and slots that were read; RLP of the parent header and of the ancestors that BLOCKHASH read',
  schema: { type: 'object', required: ['state', 'codes', 'keys', 'headers'] },
  bytes(witness): ByteList {
    const writer = new ByteWriter()
    for (const [at, name] of (['state', 'codes', 'keys', 'headers'] as const).entries()) {
      writer.ascii(at === 0 ? '{' : ',')
      writeList(writer, name, witness[name])
    }
    writer.ascii('}')
    return writer.finish()
  },
}

async function finished(context: EthContext, work: WitnessWork): Promise<ExecutionWitness> {
  using run = work
  await inTurns(context.cancellation, () => run.work())
  const { outcome } = run
  if (outcome === undefined) throw prunedHistory()
  if (outcome.kind === 'refused') throw invalidInput(outcome.reason)
  return outcome.witness
}

function witnessAt(context: EthContext, at: BlockParam): Promise<ExecutionWitness> {
  using view = context.chain.view()
  const block = requireBlock(context, view, sealed(at))
  if (block.number === 0) throw invalidInput('the genesis block has no witness')
  const work = context.tracing.witness(block.hash)
  if (work === undefined) throw prunedHistory()
  return finished(context, work)
}

export const executionWitness = ethMethod({
  name: 'debug_executionWitness',
  doc: 'Witness of a block: the data needed to execute it without a state database.',
  params: [param('block', blockId)],
  result: witnessResult,
  cost: 'trace',
  example: { params: ['latest'] },
  run: witnessAt,
})

export const executionWitnessByBlockHash = ethMethod({
  name: 'debug_executionWitnessByBlockHash',
  doc: 'Like debug_executionWitness, for a block by its hash, canonical or not.',
  params: [param('hash', hash)],
  result: witnessResult,
  cost: 'trace',
  example: { params: [`0x${'11'.repeat(32)}`] },
  run: (context, of) => witnessAt(context, { kind: 'hash', hash: of, mustBeCanonical: false }),
})

const malformed = (fault: Fault): ParamError => new ParamError(fault.message, 'senseless', fault)

const attributes: ParamCodec<PayloadAttributes> = {
  doc: 'payload attributes with the OP fields',
  schema: { type: 'object' },
  parse(value): PayloadAttributes {
    try {
      return parseAttributes(value)
    } catch (error) {
      if (isFault(error, 'MALFORMED_PAYLOAD')) throw malformed(error)
      throw error
    }
  },
}

export const executePayload = ethMethod({
  name: 'debug_executePayload',
  doc: 'Witness of the block that payload attributes define on a parent, without pool transactions. Changes nothing.',
  params: [param('parentHash', hash), param('attributes', attributes)],
  result: witnessResult,
  cost: 'trace',
  example: { params: [`0x${'11'.repeat(32)}`, { timestamp: '0x0', transactions: [] }] },
  run(context, parent, given): Promise<ExecutionWitness> {
    using view = context.chain.view()
    requireBlock(context, view, { kind: 'hash', hash: parent, mustBeCanonical: false })
    const work = context.tracing.payloadWitness(parent, given)
    if ('refused' in work) throw invalidParams(work.refused)
    return finished(context, work)
  },
})
