import { fromHex, toHex } from '#lib/hex'
import { keccak256 } from '#lib/keccak'
import type { CommandBody } from '../../command.ts'
import { inUnits } from '../../devnet/units.ts'
import { exitCodes } from '../../exitCodes.ts'
import type { FlagName } from '../../flags.ts'
import { addressFlags } from '../../localNode/nodeAddress.ts'
import { readFlags } from '../../readFlags.ts'
import { count, type Field, fieldLines } from '../../textLayout.ts'
import { blockTag, clientOf, countOf, ether, requireAddress, textOf } from './chainRead.ts'
import { isTokenAddress, Labels, readToken, type TokenFacts } from './labels.ts'

const names = [...addressFlags, 'lookup.block', 'json'] as const satisfies readonly FlagName[]

/** Block parameter of reads of state: a hash has a form of its own. @see EIP-1898 */
export const stateBlock = (text: string): unknown => (/^0x[0-9a-f]{64}$/i.test(text) ? { blockHash: text } : blockTag(text, 'block'))

/** Code of an account with the delegation of EIP-7702 to another address. */
function codeText(code: string): string {
  if (code === '0x') return 'none'
  const [, target] = /^0xef0100([0-9a-f]{40})$/i.exec(code) ?? []
  if (target !== undefined) return `delegated to 0x${target}`
  return `${count((code.length - 2) / 2)} bytes, hash ${toHex(keccak256(fromHex(code)))}`
}

function tokenFields({ name, symbol, decimals, totalSupply }: TokenFacts): readonly Field[] {
  const supply = totalSupply === null ? '–' : inUnits(BigInt(totalSupply), decimals ?? 0)
  return [
    ['B20 token', `${symbol}, ${name}`],
    ['decimals', String(decimals ?? '–')],
    ['total supply', supply],
  ]
}

export const account: CommandBody = {
  argument: { name: 'ADDRESS', doc: 'address of the account or contract' },
  flags: names,
  masksSecrets: true,
  async run(io, raw, text): Promise<number> {
    const given = readFlags(names, raw, io.env)
    const address = requireAddress(text)
    const client = clientOf(io, given)
    const block = stateBlock(given['lookup.block'])
    const [balance, nonce, code] = await client.calls(
      ['eth_getBalance', 'eth_getTransactionCount', 'eth_getCode'].map((method) => ({ method, params: [address, block] })),
    )
    const token = isTokenAddress(address) ? await readToken(client, address) : undefined
    const label = (await Labels.of(client, [address])).nameOf(address) ?? null
    if (given.json) {
      io.out.write(`${JSON.stringify({ address, block: given['lookup.block'], label, balance, nonce, code, token: token ?? null })}\n`)
      return exitCodes.done
    }
    const codeHex = /^0x(?:[0-9a-f]{2})*$/i.test(textOf(code)) ? textOf(code) : '0x'
    io.out.write(
      fieldLines([
        ['account', label === null ? address : `${address} (${label})`],
        ['at block', given['lookup.block']],
        ['balance', typeof balance === 'string' ? ether(BigInt(balance)) : '–'],
        ['nonce', countOf(nonce)],
        ['code', codeText(codeHex)],
        ...(token ? tokenFields(token) : []),
      ]),
    )
    return exitCodes.done
  },
}
