import { cliFault } from '../faults.ts'

/** Formats an amount in units of 10^digits, exactly and without trailing zeros. */
export function inUnits(amount: bigint, digits: number): string {
  const padded = amount.toString().padStart(digits + 1, '0')
  const fraction = padded.slice(padded.length - digits).replace(/0+$/, '')
  return `${padded.slice(0, padded.length - digits)}${fraction === '' ? '' : `.${fraction}`}`
}

/** Upper limit of an amount, which the contracts store as a uint256. */
const maxAmount = 2n ** 256n - 1n

/**
 * Returns the amount of a text such as `1.5` in units of 10^digits.
 * @throws Fault BAD_FLAG (fatal) with too many digits after the point, or for an amount of more than 256 bits
 */
export function fromUnits(text: string, digits: number): bigint {
  const [whole = '', fraction = ''] = text.split('.')
  if (fraction.length > digits) {
    throw cliFault('BAD_FLAG', { flag: 'amount', value: text, expected: `a number with at most ${digits} digits after the point` })
  }
  const amount = BigInt(whole + fraction.padEnd(digits, '0'))
  if (amount > maxAmount) {
    throw cliFault('BAD_FLAG', { flag: 'amount', value: text, expected: `a number up to ${inUnits(maxAmount, digits)}` })
  }
  return amount
}
