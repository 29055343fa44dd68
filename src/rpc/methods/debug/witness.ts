import { Buffer } from 'node:buffer'
import { parseAttributes } from '#engine/payloadJson'
import type { PayloadAttributes } from '#types/payload'
import { type BlockParam, blockId } from '../../codecs/blockId.ts'
import { hash } from '../../codecs/values.ts'
import type { EthContext } from '../../context.ts'
import { invalidInput, invalidParams } from '../../errors.ts'
import { type BytesCodec, type Method, type ParamCodec, param } from '../../registry.ts'
import { type ByteList, ByteWriter } from '../../results/byteList.ts'
import type { ExecutionWitness, SlicedWork, WitnessOutcome } from '../../tracePorts.ts'
import { ethMethod } from '../define.ts'
import { wellFormed } from '../engine/engineCodecs.ts'
import { ofHash, prunedStateNow, requireBlockAt, sealed } from '../eth/atBlock.ts'
import { outOfTime } from '../eth/calls/callErrors.ts'
import { finished } from './tracing.ts'

/** Bytes of a witness from which a chunk of text is full. */
const chunkBytes = 32_768

/** Returns consecutive groups of parts with `chunkBytes` or more each, but for the last one. */
function* groupsOf(parts: readonly Uint8Array[]): Generator<readonly Uint8Array[]> {
  let [from, bytes] = [0, 0]
  for (const [at, { length }] of parts.entries()) {
    bytes += length
    if (bytes < chunkBytes && at < parts.length - 1) continue
    yield parts.slice(from, at + 1)
    ;[from, bytes] = [at + 1, 0]
  }
}

const digits = Buffer.from('0123456789abcdef', 'latin1')
const [quote, comma, zero, x] = [0x22, 0x2c, 0x30, 0x78]

/** Returns the length of what `encodeGroup` returns. */
const groupLength = (before: string, group: readonly Uint8Array[]): number =>
  group.reduce((sum, { length }) => sum + 2 * length + '"0x",'.length, before.length - 1)

/** Encodes parts as hex strings with commas between them. */
function encodeGroup(before: string, group: readonly Uint8Array[]): Buffer {
  const out = Buffer.allocUnsafeSlow(groupLength(before, group) + 1)
  let at = out.write(before, 'latin1')
  for (const part of group) {
    out[at++] = quote
    out[at++] = zero
    out[at++] = x
    for (let i = 0; i < part.length; i++) {
      const byte = part[i] as number
      out[at++] = digits[byte >> 4] as number
      out[at++] = digits[byte & 15] as number
    }
    out[at++] = quote
    out[at++] = comma
  }
  return out.subarray(0, -1)
}

/** Writes a list of hex strings, which is encoded while it is sent: the text is twice as long as the parts. */
function writeList(writer: ByteWriter, name: string, parts: readonly Uint8Array[]): void {
  writer.ascii(`"${name}":[`)
  let separator = ''
  for (const group of groupsOf(parts)) {
    const before = separator
    writer.lazy({ length: groupLength(before, group), encode: () => encodeGroup(before, group) })
    separator = ','
  }
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

async function witnessOf(context: EthContext, work: SlicedWork<WitnessOutcome>): Promise<ExecutionWitness> {
  const outcome = await finished(context, work)
  if (outcome.kind === 'refused') throw invalidInput(outcome.reason)
  if (outcome.kind === 'timeout') throw outOfTime(outcome.timeoutMs)
  return outcome.witness
}

function witnessAt(context: EthContext, at: BlockParam): Promise<ExecutionWitness> {
  const block = requireBlockAt(context, sealed(at))
  if (block.number === 0) throw invalidInput('the genesis block has no witness')
  const work = context.tracing.witness(block.hash)
  if (work === undefined) throw prunedStateNow(context)
  return witnessOf(context, work)
}

const executionWitness = ethMethod({
  name: 'debug_executionWitness',
  doc: 'Witness of a block: the data needed to execute it without a state database.',
  params: [param('block', blockId)],
  result: witnessResult,
  cost: 'trace',
  example: { params: ['latest'] },
  run: witnessAt,
})

const executionWitnessByBlockHash = ethMethod({
  name: 'debug_executionWitnessByBlockHash',
  doc: 'Like debug_executionWitness, for a block by its hash, canonical or not.',
  params: [param('hash', hash)],
  result: witnessResult,
  cost: 'trace',
  example: { params: [`0x${'11'.repeat(32)}`] },
  run: (context, of) => witnessAt(context, ofHash(of)),
})

const attributes: ParamCodec<PayloadAttributes> = {
  doc: 'payload attributes with the OP fields',
  schema: { type: 'object' },
  parse: (value) => wellFormed(() => parseAttributes(value)),
}

const executePayload = ethMethod({
  name: 'debug_executePayload',
  doc: 'Witness of the block that payload attributes define on a parent, without pool transactions. Changes nothing. Each transaction has the time of a call.',
  params: [param('parentHash', hash), param('attributes', attributes)],
  result: witnessResult,
  cost: 'trace',
  example: { params: [`0x${'11'.repeat(32)}`, { timestamp: '0x0', transactions: [] }] },
  run(context, parent, given): Promise<ExecutionWitness> {
    requireBlockAt(context, ofHash(parent))
    const work = context.tracing.payloadWitness(parent, given, () => context.executor.timer())
    if ('refused' in work) throw invalidParams(work.refused)
    return witnessOf(context, work)
  },
})

export const witnessMethods: readonly Method<EthContext>[] = [executionWitness, executionWitnessByBlockHash, executePayload]
