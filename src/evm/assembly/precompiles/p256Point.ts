// Points of P-256 in Jacobian coordinates: x = X/Z², y = Y/Z³. The group's order is an odd prime, so only infinity has Y = 0.

import { add, combine, copy, elementBytes, isZero, mul, setNumber, subtract } from './p256Field'

/** A point: X, Y, Z; in a table also Z², Z³. A point given by two coordinates has Z = 1. */
export const pointBytes: usize = 3 * elementBytes
export const tablePointBytes: usize = 5 * elementBytes
const atY: usize = elementBytes
const atZ: usize = 2 * elementBytes
const atZ2: usize = 3 * elementBytes
const atZ3: usize = 4 * elementBytes

const a: usize = memory.data(72)
const b: usize = memory.data(72)
const c: usize = memory.data(72)
const d: usize = memory.data(72)
const e: usize = memory.data(72)
const f: usize = memory.data(72)
const signedY: usize = memory.data(72)
const zero: usize = memory.data(72)
const one: usize = memory.data(72)

/** Accumulator point. When it is infinity, its coordinates are undefined. */
export const sum: usize = memory.data(216)
export let sumIsInfinity: bool = true

/** Initializes the constant. Must run before any other function here. */
export function beginPoints(): void {
  setNumber(one, 0, 0, 0, 1)
}

export function clearSum(): void {
  sumIsInfinity = true
}

/** Doubles the sum: 4 products, 4 squares, for the curve's a = −3. */
export function doubleSum(): void {
  if (sumIsInfinity) return
  const x = sum
  const y = sum + atY
  const z = sum + atZ
  mul(a, z, z)
  mul(b, y, y)
  mul(c, x, b)
  subtract(d, x, a)
  add(e, x, a)
  mul(d, d, e)
  combine(e, d, 2, d, 0) // 3 (X − Z²)(X + Z²)
  mul(d, e, e)
  mul(f, y, z)
  combine(x, d, 0, c, 3)
  combine(z, f, 1, zero, 0)
  combine(d, c, 2, x, 0)
  mul(d, e, d)
  mul(f, b, b)
  combine(y, d, 0, f, 3)
}

/** Adds a point of two coordinates, or subtracts it with `negative`: 8 products, 3 squares. */
export function addAffine(point: usize, negative: bool): void {
  const y = withSign(point + atY, negative)
  if (sumIsInfinity) {
    setSum(point, y, one)
    return
  }
  const z = sum + atZ
  mul(a, z, z)
  mul(b, z, a)
  mul(c, point, a)
  mul(d, y, b)
  if (!finishAddition(sum, sum + atY)) meetAgain(point, y, one)
}

/** Adds a table point, or subtracts it: 11 products, 3 squares. */
export function addPoint(point: usize, negative: bool): void {
  const y = withSign(point + atY, negative)
  if (sumIsInfinity) {
    setSum(point, y, point + atZ)
    return
  }
  const z = sum + atZ
  mul(a, z, z)
  mul(b, z, a)
  mul(c, point, a)
  mul(d, y, b)
  mul(a, sum, point + atZ2)
  mul(b, sum + atY, point + atZ3)
  mul(z, z, point + atZ)
  if (!finishAddition(a, b)) meetAgain(point, y, point + atZ)
}

/**
 * Completes an addition: c and d are the point's x and y over the common denominator, `x` and `y` are those of the sum, and the sum's Z is the
 * product
 * of the two Z. Returns false, having changed only Z, when the x coordinates are equal.
 */
function finishAddition(x: usize, y: usize): bool {
  const z = sum + atZ
  subtract(c, c, x)
  subtract(d, d, y)
  if (isZero(c)) return false
  mul(z, z, c)
  mul(e, c, c)
  mul(f, c, e)
  mul(e, x, e)
  mul(b, y, f)
  mul(a, d, d)
  combine(a, a, 0, f, 0)
  combine(sum, a, 0, e, 1)
  combine(e, e, 0, sum, 0)
  mul(e, d, e)
  combine(sum + atY, e, 0, b, 0)
  return true
}

/** Adds a point to itself or to its opposite; d distinguishes the two. */
function meetAgain(point: usize, y: usize, z: usize): void {
  if (isZero(d)) {
    setSum(point, y, z)
    doubleSum()
  } else {
    sumIsInfinity = true
  }
}

function setSum(x: usize, y: usize, z: usize): void {
  sumIsInfinity = false
  copy(sum, x)
  copy(sum + atY, y)
  copy(sum + atZ, z)
}

function withSign(y: usize, negative: bool): usize {
  if (!negative) return y
  combine(signedY, zero, 0, y, 0)
  return signedY
}

/** Stores the sum as a table point; it must not be infinity. */
export function storeSum(to: usize): void {
  memory.copy(to, sum, pointBytes)
  mul(to + atZ2, to + atZ, to + atZ)
  mul(to + atZ3, to + atZ2, to + atZ)
}

/** Stores the sum's x and y, for a given 1/Z. */
export function storeAffine(to: usize, inverse: usize): void {
  mul(a, inverse, inverse)
  mul(to, sum, a)
  mul(a, a, inverse)
  mul(to + atY, sum + atY, a)
}

/** Returns whether x = X/Z² equals the element. */
export function hasX(element: usize): bool {
  mul(a, sum + atZ, sum + atZ)
  mul(a, a, element)
  subtract(a, a, sum)
  return isZero(a)
}

/** Returns whether y² = x³ − 3x + `constant`. */
export function isOnCurve(x: usize, y: usize, constant: usize): bool {
  mul(a, x, x)
  mul(a, a, x)
  combine(b, x, 2, x, 0)
  combine(a, a, 0, b, 0)
  add(a, a, constant)
  mul(b, y, y)
  combine(a, a, 0, b, 0)
  return isZero(a)
}
