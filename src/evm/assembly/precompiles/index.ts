// precompiles.wasm: arithmetic of precompiles that no library does fast enough. It keeps nothing from one call to the next but tables.

export { blake2Begin, blake2Finish, blake2Input, blake2Rounds } from './blake2'
export { modexpBegin, modexpFinish, modexpPiece, modexpPieceBytes, modexpRaise, modexpReserve, modexpShort, modexpTable } from './modexp'
export { p256Input, p256Verify } from './p256'
