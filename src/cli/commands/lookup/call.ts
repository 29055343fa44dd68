import { fromHex, toQuantity } from '#lib/hex'
import { decodeSolidityError } from '#types/solidityError'
import type { CommandBody } from '../../command.ts'
import { exitCodes } from '../../exitCodes.ts'
import { cliFault } from '../../faults.ts'
import type { FlagName } from '../../flags.ts'
import { addressFlags } from '../../localNode/nodeAddress.ts'
import { readFlags } from '../../readFlags.ts'
import { type Field, fieldLines } from '../../textLayout.ts'
import { stateBlock } from './account.ts'
import { clientOf, requireAddress, textOf } from './chainRead.ts'

const names = [...addressFlags, 'lookup.data', 'lookup.from', 'lookup.value', 'lookup.block', 'json'] as const satisfies readonly FlagName[]

const maxWords = 32

/** Returns the words of a result, each with its value as an integer or an address. */
function wordLines(result: string): readonly string[] {
  const words = result.slice(2).match(/.{64}/g) ?? []
  return words.slice(0, maxWords).map((word) => `0x${word}  ${/^0{24}[^0]/.test(word) ? `0x${word.slice(24)}` : BigInt(`0x${word}`)}`)
}

/** Returns the reason of a revert as text. */
function revertReason(data: unknown): string | undefined {
  if (typeof data !== 'string' || !/^0x(?:[0-9a-f]{2})+$/i.test(data)) return undefined
  const error = decodeSolidityError(fromHex(data))
  if (error === undefined) return undefined
  return error.kind === 'error' ? error.message : `panic ${toQuantity(error.code)}`
}

export const call: CommandBody = {
  argument: { name: 'ADDRESS', doc: 'address of the called contract' },
  flags: names,
  masksSecrets: true,
  async run(io, raw, text): Promise<number> {
    const given = readFlags(names, raw, io.env)
    const client = clientOf(io, given)
    const { 'lookup.data': data, 'lookup.from': from, 'lookup.value': value } = given
    const message = {
      to: requireAddress(text),
      ...(data !== undefined && { data }),
      ...(from !== undefined && { from }),
      ...(value !== undefined && { value: toQuantity(value) }),
    }
    const answers = await client.batch([{ method: 'eth_call', params: [message, stateBlock(given['lookup.block'])] }])
    if (answers.kind === 'silent') throw cliFault('NODE_SILENT', { name: client.name, reason: answers.reason })
    const [answer] = answers.value
    if (answer?.kind === 'error') {
      const reason = revertReason(answer.data) ?? answer.message
      if (given.json)
        io.out.write(`${JSON.stringify({ error: { code: answer.code, message: answer.message, data: answer.data ?? null, reason } })}\n`)
      else io.out.write(fieldLines([['failed', reason], ...(typeof answer.data === 'string' ? [['data', answer.data] as Field] : [])]))
      return exitCodes.failed
    }
    const result = answer?.kind === 'result' ? textOf(answer.result) : '0x'
    if (given.json) io.out.write(`${JSON.stringify({ result })}\n`)
    else
      io.out.write(
        fieldLines([
          ['result', result],
          ...(result.length > 66 || wordLines(result).length > 0 ? [['words', wordLines(result)] as Field] : []),
        ]),
      )
    return exitCodes.done
  },
}
