import { has, type Json, listOf } from '#types/jsonShape'
import type { CommandBody } from '../../command.ts'
import { exitCodes } from '../../exitCodes.ts'
import type { FlagName } from '../../flags.ts'
import { addressFlags } from '../../localNode/nodeAddress.ts'
import { readFlags } from '../../readFlags.ts'
import { columns, count, type Field, fieldLines, spanText } from '../../textLayout.ts'
import { clientOf, countOf, ether, gwei, parsed, readBlock, textOf, timeMsOf, timeText } from './chainRead.ts'
import { l1AttributesFields, l1AttributesJson, l1AttributesOf } from './l1Attributes.ts'
import { Labels } from './labels.ts'

const names = [...addressFlags, 'lookup.limit', 'json'] as const satisfies readonly FlagName[]

const types: Readonly<Record<string, string>> = { '0x0': 'legacy', '0x1': 'access list', '0x2': '1559', '0x4': '7702', '0x7e': 'deposit' }
export const typeName = (type: unknown): string => types[String(type)] ?? `type ${String(type).slice(0, 10)}`

const bigintOr = (value: unknown): bigint => (typeof value === 'string' && /^0x[0-9a-f]{1,64}$/i.test(value) ? BigInt(value) : 0n)

/** Formats gas used and its part of the limit. */
function gasText({ gasUsed, gasLimit }: Json): string {
  const [used, limit] = [bigintOr(gasUsed), bigintOr(gasLimit)]
  const part = limit === 0n ? '' : `, ${(Number((used * 1_000n) / limit) / 10).toFixed(1)} % of ${count(limit)}`
  return `${count(used)}${part}`
}

/** Fields of a header for a person. @throws ShapeError */
function blockFields(block: Json, transactions: readonly Json[], nowMs: number): readonly Field[] {
  const timeMs = timeMsOf(block)
  const deposits = transactions.filter(({ type }) => type === '0x7e').length
  const attributes = l1AttributesOf(transactions)
  return [
    ['block', countOf(block['number'])],
    ['hash', textOf(block['hash'])],
    ['parent', textOf(block['parentHash'])],
    ['time', `${timeText(timeMs)}, ${spanText((nowMs - timeMs) / 1_000)} ago`],
    ['transactions', `${count(transactions.length)}, ${count(deposits)} of them deposits`],
    ['gas used', gasText(block)],
    ['base fee', has(block, 'baseFeePerGas') ? gwei(bigintOr(block['baseFeePerGas'])) : '–'],
    ['size', `${countOf(block['size'])} bytes`],
    ['state root', textOf(block['stateRoot'])],
    ...(attributes ? l1AttributesFields(attributes) : []),
  ]
}

/** Rows of the transactions for a person. */
async function transactionRows(
  transactions: readonly Json[],
  limit: number,
  labelsOf: (addresses: readonly unknown[]) => Promise<Labels>,
): Promise<string> {
  const shown = transactions.slice(0, limit)
  const labels = await labelsOf(shown.map(({ to }) => to))
  const rows = shown.map(({ hash, type, from, to, value }, at) => [
    String(at),
    textOf(hash),
    typeName(type),
    textOf(from),
    to === null ? 'new contract' : labels.show(to),
    ether(bigintOr(value)),
  ])
  const rest = transactions.length - shown.length
  return (
    columns([['', 'transaction', 'type', 'from', 'to', 'value'], ...rows], ['right']) +
    (rest > 0 ? `${count(rest)} more, --limit shows them\n` : '')
  )
}

export const block: CommandBody = {
  argument: { name: 'BLOCK', doc: 'number, hash, latest, pending, safe, finalized or earliest' },
  flags: names,
  masksSecrets: true,
  async run(io, raw, reference): Promise<number> {
    const given = readFlags(names, raw, io.env)
    const client = clientOf(io, given)
    const found = await readBlock(client, reference, true)
    if (found === undefined) {
      io.err.write(`basalt: the node has no block ${reference}\n`)
      return exitCodes.failed
    }
    const transactions = parsed(client, () => listOf(found['transactions'], 'transactions')) as readonly Json[]
    const attributes = l1AttributesOf(transactions)
    if (given.json) {
      io.out.write(`${JSON.stringify({ block: found, l1Attributes: attributes ? l1AttributesJson(attributes) : null })}\n`)
      return exitCodes.done
    }
    io.out.write(fieldLines(parsed(client, () => blockFields(found, transactions, io.clock.nowMs()))))
    io.out.write(`\n${await transactionRows(transactions, given['lookup.limit'], (addresses) => Labels.of(client, addresses))}`)
    return exitCodes.done
  },
}
