# Kategori: Underweight < 18.5, Normal < 25, Overweight < 30, Obese mulai 30
"""Kalkulator BMI sederhana."""


def calculate_bmi(weight_kg, height_m):
    """Menghitung BMI dari berat (kg) dan tinggi (m)."""
    if weight_kg <= 0 or height_m <= 0:
        raise ValueError("berat dan tinggi harus positif")
    return weight_kg / height_m**2


def categorize(bmi):
    """Mengembalikan kategori BMI."""
    if bmi < 18.5:
        return "Underweight"
    if bmi < 25:
        return "Normal"
    if bmi < 30:
        return "Overweight"
    return "Obese"


def read_number(label):
    """Meminta angka sampai masukan benar."""
    while True:
        try:
            return float(input(label))
        except ValueError:
            print("Masukkan angka.")


def main():
    bmi = calculate_bmi(read_number("Berat (kg): "), read_number("Tinggi (m): "))
    print(f"BMI {bmi:.1f}: {categorize(bmi)}")


if __name__ == "__main__":
    main()
