import { has, type Json, objectOf } from '#types/jsonShape'
import type { CommandBody, Io } from '../../command.ts'
import { exitCodes } from '../../exitCodes.ts'
import type { FlagName, RawFlags } from '../../flags.ts'
import { addressFlags } from '../../localNode/nodeAddress.ts'
import type { NodeClient } from '../../localNode/nodeClient.ts'
import { readFlags } from '../../readFlags.ts'
import { columns, type Field, fieldLines } from '../../textLayout.ts'
import { typeName } from './block.ts'
import { clientOf, countOf, ether, gwei, parsed, readBlock, requireHash, textOf, timeMsOf, timeText } from './chainRead.ts'
import { type FeeParts, feesOf } from './fees.ts'
import { Labels } from './labels.ts'
import { logCells, logHead } from './logView.ts'

const names = [...addressFlags, 'json'] as const satisfies readonly FlagName[]

/** A transaction with its receipt and its block; `receipt` and `block` undefined: it waits for a block. */
type Mined = {
  readonly transaction: Json
  readonly receipt: Json | undefined
  readonly block: Json | undefined
  readonly fees: FeeParts | undefined
}

async function readMined(client: NodeClient, hash: string): Promise<Mined | undefined> {
  const [transaction, receipt] = await client.calls(
    ['eth_getTransactionByHash', 'eth_getTransactionReceipt'].map((method) => ({ method, params: [hash] })),
  )
  if (transaction == null) return undefined
  const sent = parsed(client, () => objectOf(transaction, 'the transaction'))
  if (receipt == null) return { transaction: sent, receipt: undefined, block: undefined, fees: undefined }
  const known = parsed(client, () => objectOf(receipt, 'the receipt'))
  const block = await readBlock(client, textOf(known['blockHash']), false)
  return { transaction: sent, receipt: known, block, fees: block && parsed(client, () => feesOf(known, block)) }
}

function feeFields({ execution, l1, operator, total }: FeeParts, { type, gasUsed, effectiveGasPrice }: Json): readonly Field[] {
  if (type === '0x7e') return [['fee', 'none: a deposit, whose gas is paid on L1']]
  const price = typeof effectiveGasPrice === 'string' ? `, ${countOf(gasUsed)} gas at ${gwei(BigInt(effectiveGasPrice))}` : ''
  return [
    ['fee', ether(total)],
    ['', `execution ${ether(execution)}${price}`],
    ['', `L1 ${ether(l1)}`],
    ['', `operator ${ether(operator)}`],
  ]
}

const stateOf = ({ receipt }: Mined): string => {
  if (receipt === undefined) return 'waits for a block'
  return receipt['status'] === '0x0' ? 'reverted' : 'succeeded'
}

const feesJson = (fees: FeeParts | undefined): Json | null =>
  fees === undefined ? null : Object.fromEntries(Object.entries(fees).map(([part, wei]) => [part, wei.toString()]))

/** Fields that both views begin with. */
function commonFields(mined: Mined, client: NodeClient): readonly Field[] {
  const { transaction, receipt, block, fees } = mined
  const place = receipt && `${countOf(receipt['blockNumber'])}, index ${countOf(receipt['transactionIndex'])}`
  const time = block && parsed(client, () => timeText(timeMsOf(block)))
  return [
    ['transaction', textOf(transaction['hash'])],
    ['state', stateOf(mined)],
    ...(place === undefined ? [] : [['block', [place, time].filter((text) => text !== undefined).join(', ')] as const]),
    ...(fees && receipt ? feeFields(fees, receipt) : []),
  ]
}

function transactionFields({ transaction }: Mined, labels: Labels): readonly Field[] {
  const { type, from, to, value, nonce, gas, input, mint, sourceHash } = transaction
  const data = textOf(input)
  return [
    ['type', typeName(type)],
    ['from', labels.show(from)],
    ['to', to === null ? 'new contract' : labels.show(to)],
    ['value', typeof value === 'string' ? ether(BigInt(value)) : '–'],
    ...(has(transaction, 'mint') && typeof mint === 'string' ? [['minted on L2', ether(BigInt(mint))] as const] : []),
    ...(has(transaction, 'sourceHash') ? [['source', textOf(sourceHash)] as const] : []),
    ['nonce', countOf(nonce)],
    ['gas limit', countOf(gas)],
    ['input', data.length > 138 ? `${data.slice(0, 138)}… ${(data.length - 2) / 2} bytes` : data],
  ]
}

/** Makes a command that shows a transaction. @param view returns the text below the common fields */
function showing(view: (mined: Mined, client: NodeClient) => Promise<string>, json: (mined: Mined) => unknown): CommandBody {
  return {
    argument: { name: 'HASH', doc: 'hash of the transaction' },
    flags: names,
    masksSecrets: true,
    async run(io: Io, raw: RawFlags, hash: string): Promise<number> {
      const given = readFlags(names, raw, io.env)
      const client = clientOf(io, given)
      const mined = await readMined(client, requireHash(hash, 'the hash'))
      if (mined === undefined) {
        io.err.write(`basalt: the node has no transaction ${hash}\n`)
        return exitCodes.failed
      }
      io.out.write(given.json ? `${JSON.stringify(json(mined))}\n` : fieldLines(commonFields(mined, client)) + (await view(mined, client)))
      return exitCodes.done
    },
  }
}

export const tx: CommandBody = showing(
  async (mined, client) => fieldLines(transactionFields(mined, await Labels.of(client, [mined.transaction['to']]))),
  ({ transaction, receipt = null, fees }) => ({ transaction, receipt, fees: feesJson(fees) }),
)

async function logsText({ receipt }: Mined, client: NodeClient): Promise<string> {
  const { contractAddress, logs, cumulativeGasUsed } = receipt ?? {}
  const list = Array.isArray(logs) ? (logs as readonly Json[]) : []
  const labels = await Labels.of(
    client,
    list.map(({ address }) => address),
  )
  const fields: Field[] = [
    ...(contractAddress == null ? [] : [['created contract', textOf(contractAddress)] as const]),
    ['gas of the block so far', countOf(cumulativeGasUsed)],
    ['logs', String(list.length)],
  ]
  return fieldLines(fields) + (list.length === 0 ? '' : `\n${columns([logHead, ...list.map((log) => logCells(log, labels))])}`)
}

export const receipt: CommandBody = showing(
  (mined, client) => (mined.receipt ? logsText(mined, client) : Promise.resolve('')),
  ({ receipt: found = null, fees }) => ({ receipt: found, fees: feesJson(fees) }),
)
