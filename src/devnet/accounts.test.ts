import { toHex } from 'viem'
import { english, generateMnemonic, mnemonicToAccount } from 'viem/accounts'
import { expect, it } from 'vitest'
import { devnetAccounts, testMnemonic } from './accounts.ts'
import { maxAccounts } from './choices.ts'

/** Derives an account with viem. */
function judged(words: string, accountIndex: number, addressIndex: number): { address: string; privateKey: string } {
  const account = mnemonicToAccount(words, { accountIndex, addressIndex })
  const { privateKey } = account.getHdKey()
  if (!privateKey) throw new Error('no key')
  return { address: account.address.toLowerCase(), privateKey: toHex(privateKey) }
}

it.each([
  ['the test mnemonic', testMnemonic],
  ['any mnemonic', generateMnemonic(english)],
  ['24 words', generateMnemonic(english, 256)],
])('devnet/accounts: derives the same accounts as viem from %s', (_what, words) => {
  const { accounts, roles } = devnetAccounts(words, 10)
  expect(accounts).toEqual(Array.from({ length: 10 }, (_, at) => judged(words, 0, at)))
  expect([roles.batcher, roles.owner]).toEqual([judged(words, 1, 0), judged(words, 1, 1)])
})

it('devnet/accounts: the first accounts are the well-known ones', () => {
  expect(devnetAccounts(testMnemonic, 1).accounts).toEqual([
    {
      address: '0xf39fd6e51aad88f6f4ce6ab8827279cfffb92266',
      privateKey: '0xac0974bec39a17e36ba4a6b4d238ff944bacb478cbed5efcae784d7bf4f2ff80',
    },
  ])
})

it.each([
  ['a wrong checksum', testMnemonic.replace('junk', 'test')],
  ['an unknown word', testMnemonic.replace('junk', 'junkk')],
  ['too few words', 'test junk'],
  ['nothing', ''],
])('devnet/accounts: refuses words with %s without repeating them (BAD_MNEMONIC)', (_what, words) => {
  expect(() => devnetAccounts(words, 1)).toThrow(
    expect.objectContaining({ code: 'BAD_MNEMONIC', message: expect.not.stringMatching(/junk|test/) }),
  )
})

it.each([0, -1, 1.5, maxAccounts + 1, Number.NaN])('devnet/accounts: refuses %d accounts (RangeError)', (count) => {
  expect(() => devnetAccounts(testMnemonic, count)).toThrow(RangeError)
})
