import { scopeNames } from '#devnet/b20/names'
import { policyTypes } from '#devnet/choices'
import { addresses, addressText, choice, hashText, inGroup, integer, pattern, text, uint64 } from './flagSpec.ts'

/** Flags of `basalt devnet b20`. */
export const b20Flags = inGroup(
  'Devnet',
  {
    name: text({ doc: 'name of a new token' }, 'TEXT'),
    symbol: text({ doc: 'symbol of a new token' }, 'TEXT'),
    decimals: integer({ doc: 'decimals of a new asset, 6 to 18; default 18' }, 'N', 6, 18),
    currency: pattern(
      { doc: 'currency of a new stablecoin, which has 6 decimals; default: the token is an asset' },
      'CODE',
      'capital letters such as USD',
      /^[A-Z]{1,32}$/,
    ),
    admin: addressText({ doc: 'admin and minter of a new token; default: the sender' }),
    salt: hashText({ doc: 'salt of the address of a new token; default: random' }),
    token: addressText({ doc: 'address of a token' }),
    amount: pattern({ doc: 'number of tokens, such as 1.5' }, 'N', 'a number such as 1.5', /^\d{1,60}(?:\.\d{1,18})?$/),
    memo: pattern(
      { doc: 'memo of a transfer: a text of at most 31 characters, or 32 bytes in hex' },
      'TEXT|HEX',
      'a text of at most 31 characters, or 0x and 64 hex digits',
      /^(?:0x[0-9a-fA-F]{64}|[\x20-\x7e]{1,31})$/,
    ),
    type: choice({ doc: 'type of a new policy: a blocklist forbids its members, an allowlist all other accounts' }, policyTypes),
    account: addresses({ doc: 'members of a policy' }),
    scope: choice({ doc: 'use of a policy by a token' }, scopeNames),
    id: uint64({ doc: 'id of a policy' }, 'N'),
  },
  { prefix: 'BASALT_DEVNET_B20_' },
)
