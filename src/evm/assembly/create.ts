import { allocateCode, codeByHash, finishCode } from './code'
import { exitFor } from './calls'
import { enterCode, handGas, pushFrame } from './frames'
import { charge, gasLeft, perWord } from './gas'
import { pushAddress } from './addresses'
import {
  forkShanghai,
  frameCaller,
  frameCodeAccount,
  frameEnds,
  frameIp,
  frameIsStatic,
  frameMemory,
  frameSelf,
  frameSp,
  frameValue,
  gasInitcodeWord,
  gasKeccakWord,
  goOn,
  kindCreate,
  maxDepth,
  maxInitcodeSize,
  switched,
} from './internal'
import {
  accountAddress,
  accountBalance,
  accountNonce,
  ctxCreationOverStorage,
  ctxFork,
  ctxFrames,
  ctxReturnSize,
  endedCallDepth,
  endedCollision,
  endedInitcodeSize,
  endedInsufficientBalance,
  endedNonceOverflow,
  endedOutOfGas,
  endedWriteProtection,
  exitAccount,
} from './layout'
import { keccak256 } from './keccak'
import { expandMemory, memoryCost, rangeEnd, unpayable } from './memory'
import { accountAt, accountOf, checkpoint, create as createAccount, hasNoCode, hasOldStorage, isLoaded, setNonce, transfer, warm } from './state/state'
import { kindCreate as toldCreate, kindCreate2 as toldCreate2 } from '../wasm/traceLayout'
import { queueEnter, queueLeave } from './trace'
import { compare, copyWord, setSmall, storeBig, toU32Clamped } from './word/word'

/** Buffer of 0xff ‖ address ‖ salt ‖ hash of the initcode, or of the RLP of address and nonce. */
const preimage: usize = memory.data(96)
const digest: usize = memory.data(32)
const initcodeHash: usize = memory.data(32)
const maxNonce: u64 = u64.MAX_VALUE

/** Writes the 20 bytes of an account's address. */
function writeAddress(to: usize, account: usize): void {
  store<u32>(to, bswap<u32>(load<u32>(account, accountAddress + 16)))
  store<u64>(to, bswap<u64>(load<u64>(account, accountAddress + 8)), 4)
  store<u64>(to, bswap<u64>(load<u64>(account, accountAddress)), 12)
}

/** Computes a CREATE address: the last 20 bytes of keccak(rlp([address, nonce])). */
function addressByNonce(creator: usize, nonce: u64): usize {
  const nonceBytes: u32 = nonce === 0 ? 0 : 8 - <u32>(clz(nonce) >> 3)
  const nonceSize: u32 = nonce < 128 ? 1 : 1 + nonceBytes
  store<u8>(preimage, <u8>(0xc0 + 21 + nonceSize))
  store<u8>(preimage, 0x94, 1)
  writeAddress(preimage + 2, creator)
  if (nonce < 128) store<u8>(preimage, nonce === 0 ? 0x80 : <u8>nonce, 22)
  else {
    store<u8>(preimage, <u8>(0x80 + nonceBytes), 22)
    store<u64>(preimage, bswap<u64>(nonce << ((8 - nonceBytes) << 3)), 23)
  }
  keccak256(preimage, 22 + nonceSize, digest)
  return accountAt(digest + 12)
}

/** Computes a CREATE2 address (EIP-1014); leaves the hash of the initcode in `initcodeHash`. */
function addressBySalt(creator: usize, salt: usize, initcode: usize, size: u32): usize {
  keccak256(initcode, size, initcodeHash)
  store<u8>(preimage, 0xff)
  writeAddress(preimage + 1, creator)
  storeBig(preimage + 21, salt)
  memory.copy(preimage + 53, initcodeHash, 32)
  keccak256(preimage, 85, digest)
  return accountAt(digest + 12)
}

/** Returns whether the address is already in use, so that no contract may be created there (EIP-684, EIP-7610). */
function isTaken(account: usize): bool {
  if (load<u64>(account, accountNonce) !== 0 || !hasNoCode(account)) return true
  return load<u32>(ctxCreationOverStorage) === 0 && hasOldStorage(account)
}

/** Returns how a creation ends when it is refused before it starts, in which case its gas is returned; `goOn` when it may start. */
function refusal(depth: u32, creator: usize, value: usize): i32 {
  if (depth > maxDepth) return frameEnds + endedCallDepth
  if (compare(creator + accountBalance, value) < 0) return frameEnds + endedInsufficientBalance
  return load<u64>(creator, accountNonce) === maxNonce ? frameEnds + endedNonceOverflow : goOn
}

/** Executes CREATE, and CREATE2 when `isSalted`. Changes nothing except paid memory before all requested data is present. */
export function create(frame: usize, sp: usize, isSalted: bool, nextIp: usize): i32 {
  if (load<u32>(frame, frameIsStatic) !== 0) return frameEnds + endedWriteProtection
  const isLimited = load<u32>(ctxFork) >= forkShanghai
  const size = toU32Clamped(sp - 64)
  if (isLimited && size > maxInitcodeSize) return frameEnds + endedInitcodeSize
  const end = rangeEnd(sp - 32, sp - 64)
  const memoryPrice = memoryCost(frame, end)
  const wordPrice = perWord(size, (isLimited ? gasInitcodeWord : 0) + (isSalted ? gasKeccakWord : 0))
  if (memoryPrice >= unpayable || memoryPrice + wordPrice > gasLeft()) return frameEnds + endedOutOfGas
  charge(memoryPrice)
  expandMemory(frame, end)
  const creator = <usize>load<u32>(frame, frameSelf)
  const initcode = <usize>load<u32>(frame, frameMemory) + (size === 0 ? 0 : <usize>toU32Clamped(sp - 32))
  let created: usize = 0
  if (refusal(load<u32>(ctxFrames), creator, sp) === goOn) {
    created = isSalted ? addressBySalt(creator, sp - 96, initcode, size) : addressByNonce(creator, load<u64>(creator, accountNonce))
    if (!isLoaded(created)) return exitFor(exitAccount, created)
  }
  charge(wordPrice)
  if (isDefined(TRACED)) tellCreate(frame, creator, sp, created, initcode, size, isSalted)
  const top = isSalted ? sp - 96 : sp - 64
  store<u32>(ctxReturnSize, 0)
  store<u32>(frame, <u32>nextIp, frameIp)
  store<u32>(frame, <u32>(top - 32), frameSp)
  if (created === 0 || !begin(frame, creator, created, sp, initcode, size, isSalted)) {
    setSmall(top, 0)
    store<u32>(frame, <u32>top, frameSp)
  }
  return switched
}

/** Reports the start of a creation, and at once its end when it is refused (traced build). */
function tellCreate(frame: usize, creator: usize, sp: usize, created: usize, initcode: usize, size: u32, isSalted: bool): void {
  const left = gasLeft()
  const depth = load<u32>(ctxFrames)
  const refused = refusal(depth, creator, sp)
  const place = created !== 0 ? created : isSalted ? addressBySalt(creator, sp - 96, initcode, size) : addressByNonce(creator, load<u64>(creator, accountNonce))
  queueEnter(isSalted ? toldCreate2 : toldCreate, depth, left - left / 64, creator, place, place, sp, <u32>initcode, size)
  if (refused !== goOn) queueLeave(refused - frameEnds, depth, 0, 0, 0)
}

/** Starts a creation. A collision consumes its gas. @returns whether a frame runs */
function begin(frame: usize, creator: usize, created: usize, value: usize, initcode: usize, size: u32, isSalted: bool): bool {
  const left = gasLeft()
  const given = left - left / 64
  setNonce(creator, load<u64>(creator, accountNonce) + 1)
  warm(created)
  if (isTaken(created)) {
    charge(given)
    if (isDefined(TRACED)) queueLeave(endedCollision, load<u32>(ctxFrames), given, 0, 0)
    return false
  }
  const saved = checkpoint()
  createAccount(created)
  transfer(creator, created, value)
  handGas(frame, given)
  pushCreation(frame, saved, creator, created, value, codeOfInitcode(initcode, size, isSalted))
  return true
}

function codeOfInitcode(initcode: usize, size: u32, isHashed: bool): usize {
  const known = isHashed ? codeByHash(initcodeHash) : 0
  if (known !== 0) return known
  memory.copy(allocateCode(isHashed ? initcodeHash : 0, size), initcode, size)
  return finishCode()
}

function pushCreation(parent: usize, saved: u32, creator: usize, created: usize, value: usize, code: usize): void {
  const next = pushFrame(parent, kindCreate, saved)
  store<u32>(next, <u32>created, frameSelf)
  store<u32>(next, <u32>created, frameCodeAccount)
  pushAddress(next + frameCaller, creator)
  copyWord(next + frameValue, value)
  enterCode(next, code)
}

/** Starts a creation from the host at depth 0. @returns an exit, the end of a refused creation, or `switched` when a frame runs */
export function beginMessageCreate(caller: usize, value: usize, initcode: usize, size: u32): i32 {
  const creator = accountOf(caller)
  if (!isLoaded(creator)) return exitFor(exitAccount, creator)
  const refused = refusal(0, creator, value)
  if (refused !== goOn) return refused
  const created = addressByNonce(creator, load<u64>(creator, accountNonce))
  if (!isLoaded(created)) return exitFor(exitAccount, created)
  if (isDefined(TRACED)) queueEnter(toldCreate, 0, gasLeft(), creator, created, created, value, <u32>initcode, size)
  setNonce(creator, load<u64>(creator, accountNonce) + 1)
  warm(created)
  if (isTaken(created)) return frameEnds + endedCollision
  const saved = checkpoint()
  createAccount(created)
  transfer(creator, created, value)
  pushCreation(0, saved, creator, created, value, codeOfInitcode(initcode, size, false))
  return switched
}
